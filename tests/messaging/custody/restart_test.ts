/** Starts without the custody key, with another one, with a new one in front, and with a lost one given up: what works, what is said. */
import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import { custodyKeyId } from "../../../server/base/sealing/key_ring.ts";
import type { Config } from "../../../server/base/config/config.ts";
import { keyPairFromHex } from "../../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../../support/answer.ts";
import { newKey } from "../../support/custody_key.ts";
import { openKvFile } from "../../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import {
  assertToolRefused,
  callTool,
  postRpc,
  rpcRequest,
  TOOL_NAMES,
  ToolAgent,
} from "../../support/tool_client.ts";

interface Place {
  /** A relay on the one store of the test, later ones with a later clock. */
  start(config?: Partial<Config>): Promise<StartedRelay>;
  dataDir: string;
}
interface StartedRelay extends TestRelay {
  /** Resolves once old keys are replaced. */
  resealed: Promise<number>;
}

async function withStore(body: (place: Place) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-custody-" });
  let clockStartMs = Date.UTC(2026, 5, 1);
  try {
    await body({
      dataDir,
      async start(config = {}) {
        clockStartMs += 3_600_000;
        const resealed = Promise.withResolvers<number>();
        const relay = await startTestRelay({
          kvPath: `${dataDir}/relay.kv`,
          clockStartMs,
          config: { ...config, dataDir },
          limits: { toolRegistrationsPerIpPerHour: 10_000 },
          deps: {
            log: (event, fields) => {
              if (event === "custody_keys_resealed") resealed.resolve(fields!.count as number);
            },
          },
        });
        return Object.assign(relay, { resealed: resealed.promise });
      },
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

function custodyNote(relay: TestRelay): string {
  return relay.relay.startupNotes().find((line) => /^ +custody /.test(line))!;
}

/** Everything that must work without the custody key of an agent, and what must wait for it. */
async function assertKeyless(
  relay: TestRelay,
  agent: ToolAgent,
  peer: Awaited<ReturnType<typeof registerAgent>>,
): Promise<void> {
  const registering = await callTool(relay.url, "register", { handle: "too_late" });
  assertToolRefused(registering, "internal", /^relay custody is off on this server/);
  const listing = await postRpc(relay.url, rpcRequest("tools/list"));
  assert.equal(listing.json.result.tools.length, TOOL_NAMES.length);
  const sending = await agent.call("send_message", { to: peer.handle, body: "a" });
  assertToolRefused(sending, "internal", /custody key/);
  assertRefused(
    await agent.rest("POST", "/v1/messages", { to: peer.handle, body: 1 }),
    "internal",
    /custody key/,
  );
  assertRefused(await agent.rest("POST", "/v1/keys/export"), "internal", /custody key/);
  assert.equal((await agent.done("whoami")).key_custody, "relay");
  const before = (await agent.done("check_inbox")).last_id;
  await peer.sent({ to: agent.handle, body: "still here" });
  relay.clock.advance(2000);
  const page = await agent.done("check_inbox", { since: before });
  assert.deepEqual(page.messages.map((message: { body: unknown }) => message.body), [
    "still here",
  ]);
  assertStatus(await agent.rest("GET", "/v1/outbox"), 200);
  await registerAgent(relay, `self_${relay.port}`);
}

Deno.test("a relay started again with its custody key signs and exports as before", () =>
  withStore(async ({ start, dataDir }) => {
    const first = await start();
    assert.match(custodyNote(first), /on: .*custody\.key/);
    const agent = await ToolAgent.register(first.url, "agent");
    const peer = await registerAgent(first, "peer");
    await first.stop();
    assert.equal((await Deno.stat(`${dataDir}/custody.key`)).isFile, true);
    await using second = await start();
    const there = agent.at(second.url);
    await there.done("send_message", { to: "peer", body: "after the restart" });
    assert.equal((await peer.at(second).inbox()).length, 1);
    const exported = await there.rest("POST", "/v1/keys/export");
    assert.equal(keyPairFromHex(exported.json.private_key_hex).address, agent.address);
  }));

Deno.test("a hosted relay without a custody key says so, registers nobody and keeps what works", () =>
  withStore(async ({ start, dataDir }) => {
    const key = newKey();
    const first = await start({ custodyKeys: [key] });
    const agent = await ToolAgent.register(first.url, "agent");
    const peer = await registerAgent(first, "peer");
    await first.stop();

    const keyless = await start({ hosted: true, sharedStore: true });
    assert.match(custodyNote(keyless), /off: /);
    assert.match(custodyNote(keyless), /RELAY_CUSTODY_KEY/);
    await assertKeyless(keyless, agent.at(keyless.url), peer.at(keyless));
    await keyless.stop();
    await assert.rejects(Deno.stat(`${dataDir}/custody.key`), Deno.errors.NotFound);

    await using again = await start({ custodyKeys: [key] });
    assert.match(custodyNote(again), /on: /);
    await agent.at(again.url).done("send_message", { to: "peer", body: "a" });
    await ToolAgent.register(again.url, "too_late");
  }));

Deno.test("a hosted relay with no key and no agent in custody says that RELAY_CUSTODY_KEY is unset", () =>
  withStore(async ({ start }) => {
    await using relay = await start({ hosted: true, sharedStore: true });
    assert.match(custodyNote(relay), /off: RELAY_CUSTODY_KEY is unset/);
    assertToolRefused(await callTool(relay.url, "register", { handle: "agent" }), "internal");
  }));

Deno.test("a relay started with another custody key names the missing one and keeps what works", () =>
  withStore(async ({ start }) => {
    const [key, other] = [newKey(), newKey()];
    const first = await start({ custodyKeys: [key] });
    const agent = await ToolAgent.register(first.url, "agent");
    const peer = await registerAgent(first, "peer");
    await first.stop();

    const wrong = await start({ custodyKeys: [other] });
    assert.ok(custodyNote(wrong).includes(custodyKeyId(key)));
    assert.ok(!custodyNote(wrong).includes(custodyKeyId(other)));
    await assertKeyless(wrong, agent.at(wrong.url), peer.at(wrong));
    await wrong.stop();

    const both = await start({ custodyKeys: [other, key] });
    assert.match(custodyNote(both), /on: /);
    await agent.at(both.url).done("send_message", { to: "peer", body: "a" });
    await both.stop();
  }));

Deno.test("a local relay makes no key where the store has another, and says where the missing one lies", () =>
  withStore(async ({ start, dataDir }) => {
    const given = await start({ custodyKeys: [newKey()] });
    await ToolAgent.register(given.url, "agent");
    await given.stop();
    const keyless = await start();
    assert.match(custodyNote(keyless), /off: /);
    await keyless.stop();
    await assert.rejects(Deno.stat(`${dataDir}/custody.key`), Deno.errors.NotFound);
  }));

Deno.test("a relay that made its own key and is given another says that it lies in the data folder", () =>
  withStore(async ({ start, dataDir }) => {
    const made = await start();
    await ToolAgent.register(made.url, "agent");
    await made.stop();
    await using given = await start({ custodyKeys: [newKey()] });
    assert.ok(custodyNote(given).includes(`it stands in ${dataDir}/custody.key`));
  }));

Deno.test("a custody key given up as lost lets a new one begin; its agents only read, until it turns up after all", () =>
  withStore(async ({ start, dataDir }) => {
    const first = await start();
    const agent = await ToolAgent.register(first.url, "agent");
    const peer = await registerAgent(first, "peer");
    await first.stop();
    const keyFile = `${dataDir}/custody.key`;
    const lost = base64.decode((await Deno.readTextFile(keyFile)).trim());
    const lostCustodyKeys = [custodyKeyId(lost)];
    await Deno.remove(keyFile);

    const keyless = await start();
    const advice = `if it is lost for good, put ${lostCustodyKeys[0]} into RELAY_LOST_CUSTODY_KEYS`;
    assert.ok(custodyNote(keyless).endsWith(advice));
    await keyless.stop();
    const another = await start({ lostCustodyKeys: [custodyKeyId(newKey())] });
    assert.match(custodyNote(another), /off: /);
    await another.stop();
    await assert.rejects(Deno.stat(keyFile), Deno.errors.NotFound);

    const afresh = await start({ lostCustodyKeys });
    assert.match(custodyNote(afresh), /on: .*custody\.key/);
    assert.ok(custodyNote(afresh).includes(`given up as lost is ${lostCustodyKeys[0]}`));
    const there = agent.at(afresh.url);
    const newcomer = await ToolAgent.register(afresh.url, "newcomer");
    await newcomer.done("send_message", { to: "agent", body: "hello" });
    assert.equal((await there.done("check_inbox")).messages.length, 1);
    assert.equal((await there.done("update_profile", { description: "d" })).description, "d");
    const sending = await there.call("send_message", { to: "peer", body: "a" });
    assertToolRefused(sending, "internal", /is lost: .* register another/);
    const bySend = await there.rest("POST", "/v1/messages", { to: "peer", body: 1 });
    assertRefused(bySend, "internal", /is lost/);
    assertRefused(await there.rest("POST", "/v1/keys/export"), "internal", /is lost/);
    await afresh.stop();

    const fresh = base64.decode((await Deno.readTextFile(keyFile)).trim());
    await using found = await start({ custodyKeys: [fresh, lost], lostCustodyKeys });
    assert.match(custodyNote(found), /on: (?!.*given up)/);
    for (const sender of [agent, newcomer]) {
      await sender.at(found.url).done("send_message", { to: "peer", body: "a" });
    }
    assert.equal((await peer.at(found).inbox()).length, 2);
  }));

Deno.test("a new custody key in front re-encrypts all keys, over interrupted starts too; then the old one may go", () =>
  withStore(async ({ start, dataDir }) => {
    const [old, fresh] = [newKey(), newKey()];
    const first = await start({ custodyKeys: [old] });
    const count = 230;
    const agents: ToolAgent[] = [];
    for (let i = 0; i < count; i++) {
      agents.push(await ToolAgent.register(first.url, `agent_${i}`));
    }
    const leaving = agents.pop()!;
    assertStatus(await leaving.rest("POST", "/v1/keys/export"), 200);
    const peer = await registerAgent(first, "peer");
    await first.stop();

    // Stopped at once: whatever was done stays done.
    await (await start({ custodyKeys: [fresh, old] })).stop();

    const rotating = await start({ custodyKeys: [fresh, old] });
    const resealed = await isAloneNamed(dataDir, fresh) ? 0 : await rotating.resealed;
    assert.ok(resealed <= count - 1);
    await agents[0]!.at(rotating.url).done("send_message", { to: "peer", body: "while rotating" });
    await ToolAgent.register(rotating.url, "newcomer");
    await rotating.stop();

    await using rotated = await start({ custodyKeys: [fresh] });
    assert.match(custodyNote(rotated), /on: /);
    for (const agent of [agents[1]!, agents.at(-1)!]) {
      await agent.at(rotated.url).done("send_message", { to: "peer", body: "rotated" });
      const exported = await agent.at(rotated.url).rest("POST", "/v1/keys/export");
      assert.equal(keyPairFromHex(exported.json.private_key_hex).address, agent.address);
    }
    assert.equal((await peer.at(rotated).inbox()).length, 3);
  }));

/** True when the interrupted start had finished after all. */
async function isAloneNamed(dataDir: string, key: Uint8Array): Promise<boolean> {
  using kv = await openKvFile(`${dataDir}/relay.kv`);
  const marks = await Array.fromAsync(kv.list({ prefix: ["custody-key"] }));
  return marks.length === 1 && marks[0]!.key[1] === custodyKeyId(key);
}

Deno.test("the old custody key stays named while another relay goes on sealing under it", () =>
  withStore(async ({ start }) => {
    const [old, fresh] = [newKey(), newKey()];
    const shared = { sharedStore: true };
    const behind = await start({ ...shared, custodyKeys: [old, fresh] });
    await ToolAgent.register(behind.url, "early");
    const ahead = await start({ ...shared, custodyKeys: [fresh, old] });
    assert.equal(await ahead.resealed, 1);
    const late = await ToolAgent.register(behind.url, "late");
    await behind.stop();
    await ahead.stop();

    const dropped = await start({ ...shared, custodyKeys: [fresh] });
    assert.ok(custodyNote(dropped).includes(custodyKeyId(old)));
    await dropped.stop();

    const again = await start({ ...shared, custodyKeys: [fresh, old] });
    assert.equal(await again.resealed, 1);
    await again.stop();
    await using done = await start({ ...shared, custodyKeys: [fresh] });
    assert.match(custodyNote(done), /on: /);
    await registerAgent(done, "peer");
    await late.at(done.url).done("send_message", { to: "peer", body: "a" });
  }));
