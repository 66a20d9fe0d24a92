/**
 * The program of the checking worker. It runs without any permission, and asks its host for what it
 * wants of DNS.
 */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import type { FromWorker, MailClient, ToWorker } from "./auth_messages.ts";
import { checkAuth } from "./check_auth.ts";
import type { DnsAnswer } from "../../../../toolkit/mail/dns_message.ts";

const answers = new Map<number, (answer: DnsAnswer) => void>();
let questions = 0;

const post = (message: FromWorker) => self.postMessage(message);

async function check(
  id: number,
  raw: Uint8Array,
  client: MailClient,
  nowMs: number,
  trustedSealers: readonly string[],
): Promise<void> {
  const found = await checkAuth(raw, client, nowMs, (name, type) => {
    const question = questions++;
    post({ kind: "lookup", id, question, name, type });
    return new Promise((resolve) => answers.set(question, resolve));
  }, {
    begun: (fromDomain) => post({ kind: "begun", id, fromDomain }),
    hashed: () => post({ kind: "hashed", id }),
  }, trustedSealers);
  post({ kind: "done", id, check: found });
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case "check":
      check(data.id, data.raw, data.client, data.nowMs, data.trustedSealers).catch((error) => {
        post({ kind: "failed", id: data.id, reason: error instanceof Error ? error.name : "?" });
      });
      break;
    case "answer":
      answers.get(data.question)?.(data.answer);
      answers.delete(data.question);
      break;
    case "ping":
      post({ kind: "pong" });
  }
};
// The library prints what strangers wrote.
for (const name of ["log", "info", "warn", "error", "debug"] as const) console[name] = () => {};
post({ kind: "ready" });
