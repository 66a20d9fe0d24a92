import assert from "node:assert/strict";
import { askDns } from "./ask_dns.ts";
import type { DnsErrorCode } from "./dns_message.ts";

type Given = DnsErrorCode | "nonsense" | "no such name";

/** What servers that give these answers, one after the other, come to. */
async function ask(given: readonly Given[], name = "example.org") {
  const asked: number[] = [];
  let nonsense = 0;
  const answer = await askDns(
    {
      servers: given.map((_, port) => ({ host: "192.0.2.53", port })),
      exchange({ port }, question) {
        asked.push(port);
        const answer = given[port]!;
        if (answer === "nonsense") return Promise.resolve(new Uint8Array(3));
        if (answer !== "no such name") return Promise.resolve({ code: answer });
        return Promise.resolve(question.with(2, 0x81).with(3, 0x83));
      },
      onNonsense: () => nonsense++,
    },
    name,
    "TXT",
  );
  return { answer, asked: asked.length, nonsense };
}

Deno.test("askDns() asks the next server where one is late, fails or talks nonsense, and no further one", async () => {
  const given: Given[] = [
    "ETIMEOUT",
    "ESERVFAIL",
    "EREFUSED",
    "nonsense",
    "no such name",
    "nonsense",
  ];
  assert.deepEqual(await ask(given), { answer: { code: "ENOTFOUND" }, asked: 5, nonsense: 1 });
});

Deno.test("askDns() says how the last server failed where none knows, and asks nobody for what is no name", async () => {
  const late = await ask(["ESERVFAIL", "ETIMEOUT"]);
  assert.deepEqual(late.answer, { code: "ETIMEOUT" });
  assert.deepEqual((await ask(["ETIMEOUT", "nonsense"])).answer, { code: "ESERVFAIL" });
  assert.deepEqual(await ask([]), { answer: { code: "ESERVFAIL" }, asked: 0, nonsense: 0 });
  const none = await ask(["no such name"], "a".repeat(64));
  assert.deepEqual(none, { answer: { code: "ENOTFOUND" }, asked: 0, nonsense: 0 });
});
