import { storeOn } from "../../../tests/support/store_on.ts";
import assert from "node:assert/strict";
import { encodeAddress } from "../../../toolkit/encode_address.ts";
import { wordName } from "../../../toolkit/word_name.ts";
import { bindingKey, Identities } from "./identities.ts";
import { agentKey, type AgentRecord } from "./agent_records.ts";

function agent(id: number): AgentRecord {
  const publicKey = new Uint8Array(32).fill(id % 256);
  publicKey[0] = Math.floor(id / 256);
  return {
    v: 1,
    id,
    address: encodeAddress(publicKey),
    handle: `agent_${id}`,
    wordName: wordName(publicKey),
    displayName: "",
    description: "",
    tags: [],
    createdAtMs: 0,
    custody: "self",
    ownerTokenHash: null,
  };
}

async function withAgents(
  count: number,
  test: (kv: Deno.Kv, agents: AgentRecord[]) => Promise<void>,
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  const agents = Array.from({ length: count }, (_, i) => agent(i + 1));
  for (const one of agents) {
    await kv.atomic().set(agentKey(one.id), one)
      .set(bindingKey("address", one.address), { v: 1, id: one.id })
      .set(bindingKey("handle", one.handle), { v: 1, id: one.id })
      .set(bindingKey("word", one.wordName), { v: 1, id: one.id })
      .commit();
  }
  await test(kv, agents);
}

Deno.test("Identities reads busy agents hardly more than once, however many others it meets once", () =>
  withAgents(400, async (kv, agents) => {
    const identities = new Identities(storeOn(kv), 75);
    const busy = agents.slice(0, 30);
    for (const { address } of [...busy, ...busy]) await identities.byAddress(address);
    for (const [i, { address }] of agents.slice(30).entries()) {
      await identities.byAddress(address);
      const { address: known } = busy[i % 30]!;
      // As requests look: an agent in memory is found without a promise.
      if (identities.addressInMemory(known) === undefined) await identities.byAddress(known);
    }
    assert.ok(identities.size <= 75);
    // First in, first out would read each busy agent again for every 75 others.
    assert.ok(identities.reads <= 450, `${identities.reads} reads`);
    for (const { address } of busy) assert.notEqual(identities.inMemory(address), undefined);
  }));

Deno.test("Identities forgets all names of an agent that had to leave, and finds it again by each", () =>
  withAgents(60, async (kv, agents) => {
    const identities = new Identities(storeOn(kv), 10);
    const { id, address, handle, wordName } = agents[0]!;
    const names = [address, `@${handle}`, wordName];
    for (const name of names) assert.equal((await identities.resolve(name))?.id, id);
    for (const name of names) assert.equal(identities.inMemory(name)?.id, id);
    for (const one of agents.slice(1)) for (let n = 0; n < 3; n++) await identities.byId(one.id);
    for (const name of names) assert.equal(identities.inMemory(name), undefined);
    for (const name of names) assert.equal((await identities.resolve(name))?.id, id);
    assert.equal(identities.size, 10);
  }));
