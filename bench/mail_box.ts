/** An org with an inbox at a relay under load, and mail for it as the operator's gateway signs it. */
import { base64 } from "@scure/base";
import { createHmac } from "node:crypto";
import { signBytes } from "../toolkit/ed25519_signer.ts";
import { generateKeyPair } from "../toolkit/generate_key_pair.ts";
import { httpRequest } from "./load.ts";

export interface MailOrg {
  orgId: string;
  apiKey: string;
}

export interface MailBox extends MailOrg {
  inboxId: string;
  address: string;
}

/** Of relays that bench/servers/relay.ts starts with mail on. */
export const BENCH_INBOUND_SECRET = new Uint8Array(32).fill(26);

export async function registerForMail(port: number): Promise<MailOrg> {
  const { address, privateKey } = generateKeyPair();
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = new TextEncoder().encode(`relay-mail:register:${address}:${timestamp}`);
  const signature = base64.encode(signBytes(signed, privateKey));
  const answer = await fetch(`http://127.0.0.1:${port}/v1/mail/agents/register`, {
    method: "POST",
    body: JSON.stringify({ public_key: address, timestamp, signature }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  const { org_id, api_key } = await answer.json();
  return { orgId: org_id, apiKey: api_key };
}

export async function openMailBox(port: number): Promise<MailBox> {
  const org = await registerForMail(port);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/mail/inboxes`, {
    method: "POST",
    headers: { authorization: `Bearer ${org.apiKey}` },
    body: "{}",
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  const { id, address } = await answer.json();
  return { ...org, inboxId: id, address };
}

let count = 0;

/** The request that hands in one message. */
export function inboundRequest(to: string, raw: Uint8Array): Uint8Array {
  const id = `bench_${Date.now()}_${count++}`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const envelope = JSON.stringify({ from: "sender@else.test", to: [to] });
  const mac = createHmac("sha256", BENCH_INBOUND_SECRET)
    .update(`${id}.${timestamp}.${envelope}.`).update(raw).digest("base64");
  return httpRequest("POST", "/v1/mail/inbound/raw", {
    "content-type": "message/rfc822",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac}`,
    "x-relay-envelope": envelope,
  }, raw);
}

/** Some 6 KB in two alternatives, as a service sends it; each is another message. */
export function sampleMail(answers?: string): { id: string; raw: Uint8Array<ArrayBuffer> } {
  const id = `<${crypto.randomUUID()}@else.test>`;
  const paragraph = "The order has left our house and will reach you within two or three days.";
  const text = Array.from({ length: 12 }, (_, i) => `${i}. ${paragraph}`);
  const html = text.map((line) =>
    `<tr><td style="padding:4px;color:#222"><p>${line} <a href="https://else.test/x?y=1">more</a></p></td></tr>`
  );
  const lines = [
    "Received: from mx.else.test (mx.else.test [192.0.2.7]) by mx.agents.test; Sun, 22 Nov 2026 10:00:00 +0000",
    "From: =?utf-8?Q?Sh=C3=B6p?= <sender@else.test>",
    "To: agent@agents.test",
    "Subject: Your order 482913",
    `Message-ID: ${id}`,
    ...(answers === undefined ? [] : [`In-Reply-To: ${answers}`]),
    "Date: Sun, 22 Nov 2026 10:00:00 +0000",
    "MIME-Version: 1.0",
    'Content-Type: multipart/alternative; boundary="bench"',
    "",
    "--bench",
    "Content-Type: text/plain; charset=utf-8",
    "",
    ...text,
    "--bench",
    "Content-Type: text/html; charset=utf-8",
    "",
    `<html><body><table>${html.join("\r\n")}</table></body></html>`,
    "--bench--",
    "",
  ];
  return { id, raw: new TextEncoder().encode(lines.join("\r\n")) };
}
