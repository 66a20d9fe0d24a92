import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { OpenParts, openTogether, type Part } from "./part.ts";

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
  // @ts-expect-error: it would never run
  add("c", { crons: { hourly: () => Promise.resolve() } });
});

Deno.test("OpenParts.start() starts parts in order, and none after one that fails", async () => {
  const { parts, add, told } = rig();
  const starting = (name: string) => ({ start: () => void told.push(`started ${name}`) });
  add("slot");
  add("messages", starting("messages"));
  add("digest", { start: () => Promise.reject(new Error("no")) });
  add("admin", starting("admin"));
  await rejects(parts.start(), /no/);
  deepStrictEqual(told, ["started messages"]);
});

Deno.test("openTogether() closes what was opened where a part fails to open, and tells why it did", async () => {
  const told: string[] = [];
  const log = (event: string) => void told.push(event);
  await rejects(
    openTogether(log, async (parts) => {
      parts.add("slot", { close: () => void told.push("closed slot") });
      parts.add("messages", { close: () => Promise.reject(new Error("second")) });
      await Promise.reject(new Error("first"));
    }),
    /first/,
  );
  deepStrictEqual(told, ["close_failed", "closed slot"]);
});

Deno.test("openTogether() leaves parts open that are all open", async () => {
  const told: string[] = [];
  const parts = await openTogether(() => {}, (parts) => {
    parts.add("slot", { close: () => void told.push("closed slot") });
    return Promise.resolve(parts);
  });
  deepStrictEqual(told, []);
  await parts.close();
  deepStrictEqual(told, ["closed slot"]);
});

Deno.test("OpenParts are a part of others: an area of several is opened and closed as one", async () => {
  const { parts, add, told } = rig();
  add("slot");
  const area = parts.add("mail", new OpenParts(() => {}));
  for (const [name, cron] of [["keys", "digest"], ["inboxes", "figures"]] as const) {
    area.add(name, {
      routes: [{ method: "GET", path: `/${name}`, handle: () => new Response() }],
      notes: [`note of ${name}`],
      crons: { [cron]: () => Promise.resolve(told.push(`cron of ${name}`)) },
      start: () => void told.push(`started ${name}`),
      everyMinute: () => Promise.resolve(told.push(`minute of ${name}`)),
      endWaits: () => void told.push(`ended waits of ${name}`),
      close: () => void told.push(`closed ${name}`),
    });
  }
  add("description");
  deepStrictEqual(parts.routes.map(({ path }) => path), ["/keys", "/inboxes"]);
  deepStrictEqual(parts.notes, ["note of keys", "note of inboxes"]);
  await parts.start();
  await parts.everyMinute();
  for (const body of Object.values(parts.crons)) await body();
  parts.endWaits();
  await parts.close();
  const both = (what: string) => [`${what} keys`, `${what} inboxes`];
  deepStrictEqual(told, [
    ...both("started"),
    ...both("minute of"),
    ...both("cron of"),
    ...both("ended waits of"),
    "closed description",
    "closed inboxes",
    "closed keys",
    "closed slot",
  ]);
});
