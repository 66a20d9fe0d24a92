/** A relay in a process of its own that takes mail by SMTP, and what is stored in it. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { accepted, MailKeyHolder } from "./mail_caller.ts";
import { registerOrg } from "./mail_relay.ts";
import { delay } from "./pace.ts";
import type { TestRelay } from "./relay.ts";
import { smtpPortOf } from "./smtp_client.ts";
import { type SpawnedRelay, type SpawnOptions, spawnRelay } from "./spawn_relay.ts";

/** Limits that no test of SMTP means to meet. */
const OPEN = {
  mailInboxesPerTrial: 10,
  mailInboundPerTrialInboxPerHour: 1_000_000,
  mailStorageBytesPerTrial: 2 ** 40,
  mailStorageBytesFirstDay: 2 ** 40,
  mailInboundBytesPerInboxPerHour: 2 ** 40,
  mailMinFreeDiskBytes: 0,
};

const certificate = (name: string) =>
  fileURLToPath(new URL(`../base/outgoing/certificates/${name}.pem`, import.meta.url));

export const TLS_ENV = {
  RELAY_MAIL_TLS_CERT: certificate("server"),
  RELAY_MAIL_TLS_KEY: certificate("server_key"),
};

/** In local mode, unless `env` sets it otherwise. */
export async function spawnSmtpRelay(
  { env, limits, ...options }: SpawnOptions & { limits?: Record<string, number> } = {},
): Promise<SpawnedRelay & { smtpPort: number }> {
  const relay = await spawnRelay({
    ...options,
    env: {
      RELAY_MAIL_DEV: "true",
      RELAY_LIMITS: JSON.stringify({ ...OPEN, ...limits }),
      ...env,
    },
  });
  await relay.wrote(/mail in/);
  const smtpPort = smtpPortOf({ relay: { startupNotes: () => relay.output().stdout.split("\n") } });
  return Object.assign(relay, { smtpPort });
}

/** A new trial org at a process. */
export async function newOrgAt({ url }: { url: string }): Promise<MailKeyHolder> {
  const { orgId, apiKey } = await registerOrg({ url, clock: { now: Date.now } } as TestRelay);
  return new MailKeyHolder(url, apiKey, orgId);
}

/** All messages of an inbox, oldest first, as they are stored, a character a byte. */
export async function storedRaws(holder: MailKeyHolder, address: string): Promise<string[]> {
  const raws: string[] = [];
  for (let cursor = "";;) {
    const path = `/v1/mail/inboxes/${address}/messages?order=asc&limit=100${cursor}`;
    const { data, next_cursor } = accepted(await holder.ask("GET", path), 200);
    for (const { id } of data) {
      const answer = await fetch(`${holder.url}/v1/mail/messages/${id}/raw`, {
        headers: { Authorization: `Bearer ${holder.key}` },
      });
      assert.equal(answer.status, 200);
      raws.push([...await answer.bytes()].map((byte) => String.fromCharCode(byte)).join(""));
    }
    if (next_cursor === null || data.length === 0) return raws;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
}

/** The same without the fields that the relay puts before a message. */
export function withoutTrace(raw: string): string {
  const trace = /^Return-Path: <.*>\r\nReceived: from .*\r\n\tby .*;\r\n\t.*\r\n/.exec(raw);
  assert.ok(trace !== null, raw.slice(0, 300));
  return raw.slice(trace[0].length);
}

/** Asks again and again until there is an answer. @throws Error where there is none in time */
export async function until<T>(
  find: () => Promise<T | undefined>,
  patienceMs = 30_000,
): Promise<T> {
  for (const endMs = Date.now() + patienceMs; Date.now() < endMs; await delay(50)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error("it did not come to that in time");
}
