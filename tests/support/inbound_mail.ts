/** Mail and delivery events as the operator's gateway hands them in, signed on its own account: not by the relay's code. */
import { createHmac } from "node:crypto";
import { TEST_INBOUND_SECRET } from "./inbound_secret.ts";
import type { MailAnswer } from "./mail_relay.ts";
import type { TestRelay } from "./relay.ts";

export interface InboundOptions {
  from?: string;
  to: readonly string[];
  raw: string | Uint8Array<ArrayBuffer>;
  /** Whole seconds. */
  timestamp: number;
  secret?: Uint8Array;
  id?: string;
  /** Further members of the envelope. */
  envelope?: Record<string, unknown>;
  headers?: Record<string, string>;
}

let count = 0;

/** Headers and body of a signed request. */
export function signInbound(
  { from = "sender@else.test", to, raw, timestamp, secret = TEST_INBOUND_SECRET, id, envelope }:
    InboundOptions,
): { headers: Record<string, string>; body: Uint8Array<ArrayBuffer> } {
  const body = typeof raw === "string" ? new TextEncoder().encode(raw) : raw;
  const name = id ?? `msg_${++count}_${timestamp}`;
  const envelopeText = JSON.stringify({ from, to, ...envelope });
  const mac = createHmac("sha256", secret).update(`${name}.${timestamp}.${envelopeText}.`)
    .update(body).digest("base64");
  return {
    headers: {
      "Content-Type": "message/rfc822",
      "webhook-id": name,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": `v1,${mac}`,
      "X-Relay-Envelope": envelopeText,
    },
    body,
  };
}

export async function handIn(url: string, options: InboundOptions): Promise<MailAnswer> {
  const { headers, body } = signInbound(options);
  const answer = await fetch(`${url}/v1/mail/inbound/raw`, {
    method: "POST",
    headers: { ...headers, ...options.headers },
    body,
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === "" ? "" : JSON.parse(text),
  };
}

export interface HandedInEvents {
  /** Whole seconds. */
  timestamp?: number;
  id?: string;
  secret?: Uint8Array;
  /** What is signed in place of the body. */
  signed?: string;
}

/** Delivery events, handed in as the gateway does. */
export async function handInEvents(
  relay: TestRelay,
  body: string,
  { timestamp, id = "evt_1", secret = TEST_INBOUND_SECRET, signed = body }: HandedInEvents = {},
): Promise<MailAnswer> {
  const at = timestamp ?? Math.floor(relay.clock.now() / 1000);
  const mac = createHmac("sha256", secret).update(`${id}.${at}.${signed}`).digest("base64");
  const answer = await fetch(`${relay.url}/v1/mail/events`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(at),
      "webhook-signature": `v1,${mac}`,
    },
    body,
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

/** A message of a few headers and a text; further headers replace these. */
export function mailText(
  { headers = {}, text = "Hello.\r\n" }: { headers?: Record<string, string>; text?: string } = {},
): string {
  const all = {
    From: "Sender <sender@else.test>",
    To: "inbox@agents.test",
    Subject: "Hello",
    "Message-ID": `<${crypto.randomUUID()}@else.test>`,
    Date: "Sun, 22 Nov 2026 10:00:00 +0000",
    ...headers,
  };
  return Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("") +
    `\r\n${text}`;
}
