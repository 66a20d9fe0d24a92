/** A stolen copy of the store without the custody key yields no private key and no token. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { decodeAddress } from "../../../toolkit/mod.ts";
import { KeyRing } from "../../../server/base/sealing/key_ring.ts";
import { readKeyFile } from "../../../server/messaging/custody/open_custody_keys.ts";
import type { SealedRow } from "../../../server/base/sealing/sealed_rows.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

/** Every way a secret may be written down. */
function spellings(secret: Uint8Array): Buffer[] {
  const bytes = Buffer.from(secret);
  const texts = [
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("base64url"),
  ];
  return [bytes, ...texts.flatMap((text) => [Buffer.from(text), Buffer.from(text, "utf16le")])];
}

Deno.test("no byte of the store's files holds a private key, a token or the custody key", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const kvPath = `${dataDir}/relay.kv`;
  const tokens: string[] = [];
  const addresses = new Map<number, string>();
  try {
    const relay = await startTestRelay({ kvPath, config: { dataDir } });
    const peer = await registerAgent(relay, "peer");
    tokens.push(peer.ownerToken);
    for (let i = 0; i < 10; i++) {
      const agent = await ToolAgent.register(relay.url, `agent_${i}`);
      tokens.push(agent.token);
      await agent.done("send_message", { to: "peer", body: `hello ${i}`, idempotency_key: "k" });
      await agent.done("check_inbox");
      if (i === 9) await agent.rest("POST", "/v1/keys/export");
    }
    for await (
      const { key, value } of relay.deps.kv.list<{ address: string }>({ prefix: ["agent"] })
    ) {
      addresses.set(key[1] as number, value.address);
    }
    const custodyKey = (await readKeyFile(`${dataDir}/custody.key`))!;
    const ring = new KeyRing([custodyKey], relay.deps.random);
    const seeds: Uint8Array[] = [];
    for await (const { key, value } of relay.deps.kv.list<SealedRow>({ prefix: ["custody"] })) {
      const address = addresses.get(key[1] as number)!;
      seeds.push(ring.open(value, decodeAddress(address)));
    }
    assert.equal(seeds.length, 9);
    await relay.stop();

    const stolen: Buffer[] = [];
    for await (const { name } of Deno.readDir(dataDir)) {
      if (name.startsWith("relay.kv")) {
        stolen.push(Buffer.from(await Deno.readFile(`${dataDir}/${name}`)));
      }
    }
    const store = Buffer.concat(stolen);
    // What is searched for is found where it stands: the search itself works.
    assert.ok(store.includes("hello 3") && store.includes(addresses.get(2)!));
    for (const secret of [custodyKey, ...seeds]) {
      for (const spelling of spellings(secret)) assert.equal(store.includes(spelling), false);
    }
    for (const token of tokens) {
      assert.equal(store.includes(token), false);
      const random = Buffer.from(token.replace(/^rt_(mcp|owner)_/, ""), "base64url");
      assert.equal(random.length, 32);
      for (const spelling of spellings(random)) assert.equal(store.includes(spelling), false);
    }
    for (const line of relay.logged) {
      for (const token of tokens) assert.ok(!JSON.stringify(line).includes(token));
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
