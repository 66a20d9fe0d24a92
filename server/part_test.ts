import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { OpenParts, type Part } from "./part.ts";

function rig() {
  const told: string[] = [];
  const parts = new OpenParts((event, fields = {}) =>
    told.push(`${event} ${fields["part"] ?? fields["cron"]}`)
  );
  const add = (name: string, part: Part = {}) =>
    parts.add(name, { close: () => void told.push(`closed ${name}`), ...part });
  return { parts, add, told };
}

Deno.test("OpenParts.close() closes parts in reverse order", async () => {
  const { parts, add, told } = rig();
  for (const name of ["slot", "messages", "digest"]) add(name);
  await parts.close();
  deepStrictEqual(told, ["closed digest", "closed messages", "closed slot"]);
});

Deno.test("OpenParts.close() closes every part whatever another one throws, and tells the first failure", async () => {
  const { parts, add, told } = rig();
  add("slot");
  add("messages", { close: () => Promise.reject(new Error("second")) });
  add("digest", {
    close() {
      throw new Error("first");
    },
  });
  await rejects(parts.close(), /first/);
  deepStrictEqual(told, ["close_failed digest", "close_failed messages", "closed slot"]);
  await parts.close();
  strictEqual(told.length, 3);
});

Deno.test("OpenParts.everyMinute() runs each part's work and logs what fails", async () => {
  const { parts, add, told } = rig();
  add("a", { everyMinute: () => Promise.reject(new Error("no")) });
  add("b", { everyMinute: () => Promise.resolve(told.push("minute b")) });
  add("c");
  await parts.everyMinute();
  deepStrictEqual(told.sort(), ["minute b", "minute_failed a"]);
});

Deno.test("OpenParts.crons are those of all parts; they throw nothing", async () => {
  const { parts, add, told } = rig();
  add("a", { crons: { digest: () => Promise.reject(new Error("no")) } });
  add("b", { crons: { figures: () => Promise.resolve(told.push("figures")) } });
  deepStrictEqual(Object.keys(parts.crons), ["digest", "figures"]);
  for (const body of Object.values(parts.crons)) await body();
  deepStrictEqual(told, ["cron_failed digest", "figures"]);
});
