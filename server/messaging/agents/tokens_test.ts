import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { agentKey, type AgentRecord } from "./agent_records.ts";
import { rotateOwnerToken } from "./tokens.ts";

const AGENT: AgentRecord = {
  v: 1,
  id: 7,
  address: "a",
  handle: "alice",
  wordName: "word",
  displayName: "",
  description: "",
  tags: [],
  createdAtMs: 0,
  custody: "self",
  ownerTokenHash: null,
};

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";

  Deno.test(`rotateOwnerToken() takes a signature once, also twice in one commit, on ${store}`, async () => {
    const kv = await openMemoryKv();
    await kv.set(agentKey(AGENT.id), AGENT);
    const storage = await openTestStorage(kv, { exclusive });
    const services = {
      ...storage,
      random: storage.store.random,
      freeDisk: { refuseWhenFull: () => Promise.resolve() } as never,
      renewalsPerHour: 100,
    };
    const timestampSeconds = Math.floor(storage.clock.now() / 1000);
    const rotate = (byte: number) =>
      rotateOwnerToken(services, AGENT.id, {
        signature: new Uint8Array(64).fill(byte),
        timestampSeconds,
      });
    await rotate(1); // what the next ones need is in memory then
    const given = await Promise.allSettled([rotate(2), rotate(2), rotate(2)]);
    assert.equal(given.filter(({ status }) => status === "fulfilled").length, 1);
    for (const one of given) {
      if (one.status === "rejected") assert.equal(one.reason.code, "invalid_signature");
    }
    await storage.close();
    kv.close();
  });
}
