/** An org with webhooks, and a receiver on loopback that a test scripts. */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { TestClock } from "./clock.ts";
import { handIn, mailText } from "./inbound_mail.ts";
import { accepted, MailKeyHolder } from "./mail_caller.ts";
import { startMailRelay } from "./mail_relay.ts";
import type { TestRelay, TestRelayOptions } from "./relay.ts";
import { newSendingOrg } from "./sending_org.ts";
import { startTestServer } from "./test_server.ts";

/** A request as the receiver got it. */
export interface TakenDelivery {
  path: string;
  headers: Record<string, string>;
  text: string;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  body: any;
  /** By the test's clock. */
  atMs: number;
}

export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  taken: TakenDelivery[];
  /** What it answers from now on; 200 unless set. */
  answer: (taken: TakenDelivery) => Response | Promise<Response>;
}

export function startReceiver(clock: Pick<TestClock, "now">): WebhookReceiver {
  const server = startTestServer(async (request) => {
    const text = await request.text();
    const taken: TakenDelivery = {
      path: new URL(request.url).pathname,
      headers: Object.fromEntries(request.headers),
      text,
      body: JSON.parse(text),
      atMs: clock.now(),
    };
    receiver.taken.push(taken);
    return await receiver.answer(taken);
  });
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${server.port}`,
    taken: [],
    answer: () => new Response("thanks"),
    [Symbol.asyncDispose]: () => server.close(),
  };
  return receiver;
}

/** What the library of Standard Webhooks says of a delivery; throws where it does not verify. */
export function verify({ text, headers, atMs }: TakenDelivery, secret: string): unknown {
  const { now } = Date;
  Date.now = () => atMs; // the library knows no other clock
  try {
    return new Webhook(secret.slice("rmwh_".length)).verify(text, headers);
  } finally {
    Date.now = now;
  }
}

export interface WebhookWorld extends AsyncDisposable {
  relay: TestRelay;
  owner: MailKeyHolder;
  receiver: WebhookReceiver;
  /** Where receiveOne() hands in. */
  inbox?: { id: string; address: string };
  /** Mails that it has handed in. */
  received?: number;
}

export async function startWebhookWorld(options: TestRelayOptions = {}): Promise<WebhookWorld> {
  const relay = await startMailRelay(options);
  const owner = await newSendingOrg(relay);
  const receiver = startReceiver(relay.clock);
  return {
    relay,
    owner,
    receiver,
    async [Symbol.asyncDispose]() {
      await relay.stop();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function newWebhook(world: WebhookWorld, body: object = {}): Promise<any> {
  const asked = { url: `${world.receiver.url}/hook`, ...body };
  return accepted(await world.owner.ask("POST", "/v1/mail/webhooks", { body: asked }), 201);
}

// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function readWebhook({ owner }: WebhookWorld, id: string): Promise<any> {
  return accepted(await owner.ask("GET", `/v1/mail/webhooks/${id}`), 200);
}

/** Posts to a webhook's path, and gives the id of the event. */
export async function queueOne({ owner }: WebhookWorld, path: string): Promise<string> {
  return accepted(await owner.ask("POST", `/v1/mail/webhooks/${path}`), 202).event_id;
}

/** The log, the newest first. */
// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function deliveriesOf({ owner }: WebhookWorld, id: string): Promise<any[]> {
  const path = `/v1/mail/webhooks/${id}/deliveries?limit=100`;
  const { data, next_cursor } = accepted(await owner.ask("GET", path), 200);
  assert.equal(next_cursor, null);
  return data;
}

/** Has the queue do what is due. */
export async function settle({ relay }: WebhookWorld): Promise<void> {
  await relay.relay.crons["outgoing"]!();
}

/** A webhook with an attempt in its log, which hears of nothing that a test does. */
export async function deliveredWebhook(
  { relay }: TestRelay,
  holder: MailKeyHolder,
  url: string,
): Promise<{ webhook: string; delivery: string }> {
  const body = { url, events: ["message.complained"] };
  const { id } = accepted(await holder.ask("POST", "/v1/mail/webhooks", { body }), 201);
  accepted(await holder.ask("POST", `/v1/mail/webhooks/${id}/test`), 202);
  await relay.crons["outgoing"]!();
  const { data } = accepted(await holder.ask("GET", `/v1/mail/webhooks/${id}/deliveries`), 200);
  return { webhook: id, delivery: data[0].id };
}

/** Hands in a mail to an inbox, one of its own unless given, and has all that follows done. @returns its id */
export async function receiveOne(
  world: WebhookWorld,
  inbox?: { id: string; address: string },
  mail: Parameters<typeof mailText>[0] = {},
): Promise<string> {
  const { relay, owner } = world;
  const to = inbox ?? (world.inbox ??= await owner.inbox());
  const timestamp = Math.floor(relay.clock.now() / 1000);
  const text = `Hello ${world.received = (world.received ?? 0) + 1}.`;
  const raw = mailText({ text, ...mail });
  accepted(await handIn(relay.url, { to: [to.address], raw, timestamp }), 200);
  await settle(world);
  const path = `/v1/mail/inboxes/${to.id}/messages?limit=1`;
  return accepted(await owner.ask("GET", path), 200).data[0].id;
}
