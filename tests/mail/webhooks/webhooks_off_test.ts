/** Relays that post nothing: by their operator's wish, or because they may not. */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import {
  newWebhook,
  queueOne,
  receiveOne,
  recordOf,
  rowsOf,
  settle,
  startReceiver,
  waiting,
  type WebhookReceiver,
  type WebhookWorld,
} from "../../support/webhook_world.ts";

/** Does something with a relay on a store, with these settings. */
type OnStore = <T>(
  settings: { webhooks?: boolean; envProxy?: boolean },
  work: (world: WebhookWorld) => Promise<T>,
) => Promise<T>;

async function withStore(test: (on: OnStore, receiver: WebhookReceiver) => Promise<void>) {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-off-" });
  const kv = await openMemoryKv();
  let clockStartMs = Date.UTC(2026, 5, 1, 12);
  await using receiver = startReceiver({ now: () => clockStartMs });
  let owner: WebhookWorld["owner"] | null = null;
  let inbox: WebhookWorld["inbox"];
  let received = 0;
  const on: OnStore = async (settings, work) => {
    const mail = {
      ...parseConfig({ RELAY_MAIL_DEV: "true" }).mail,
      inboundSecret: TEST_INBOUND_SECRET,
      ...settings,
    };
    const relay = await startMailRelay({ config: { dataDir, mail }, deps: { kv }, clockStartMs });
    try {
      owner = owner?.at(relay) ?? await newSendingOrg(relay);
      inbox ??= await owner.inbox();
      const world: WebhookWorld = {
        relay,
        owner,
        receiver,
        inbox,
        received,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
      const result = await work(world);
      received = world.received!;
      return result;
    } finally {
      clockStartMs = relay.clock.now();
      await relay.stop();
    }
  };
  try {
    await test(on, receiver);
  } finally {
    kv.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("with RELAY_WEBHOOKS=false what happens is not kept, and what waits is dropped", () =>
  withStore(async (on, receiver) => {
    receiver.answer = () => new Response(null, { status: 500 });
    const id = await on({}, async (world) => {
      const made = await newWebhook(world);
      await receiveOne(world);
      return made.id;
    });
    assert.equal(receiver.taken.length, 1);
    await on({ webhooks: false }, async (world) => {
      await receiveOne(world);
      await queueOne(world, `${id}/test`);
      world.relay.clock.advance(6_000);
      await settle(world);
      assert.deepEqual(await waiting(world), []);
      assert.equal((await rowsOf(world, "mail-event")).length, 1); // of the first, for 7 days
      const { pending, single } = await recordOf(world, id);
      assert.deepEqual([pending, single], [0, 0]);
    });
    assert.equal(receiver.taken.length, 1);
  }));

Deno.test("while the process may not post what happens waits, and is delivered once it may", () =>
  withStore(async (on, receiver) => {
    const id = await on({}, async (world) => (await newWebhook(world)).id);
    await on({ envProxy: true }, async (world) => {
      const { relay } = world;
      await receiveOne(world);
      relay.clock.advance(3_600_000);
      await settle(world);
      assert.equal((await recordOf(world, id)).pending, 1);
      const notes = relay.relay.startupNotes().filter((note) => note.includes("webhooks"));
      assert.equal(notes.length, 1);
      assert.match(notes[0]!, /NODE_USE_ENV_PROXY/);
    });
    assert.equal(receiver.taken.length, 0);
    await on({}, settle);
    assert.equal(receiver.taken.length, 1);
  }));
