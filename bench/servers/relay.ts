/** A relay with a store of its own in a given folder, and limits too high to matter. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { base64 } from "@scure/base";
import { parseConfig } from "../../server/base/config/config.ts";
import type { Deps } from "../../server/base/parts/deps.ts";
import type { Mailer } from "../../server/base/mailer/mailer.ts";
import { createSmtpMailer } from "../../server/base/mailer/smtp_mailer.ts";
import { openRelay, type RelayOptions } from "../../server/relay.ts";
import { serve } from "../../server/process/serve.ts";
import { EMBEDDED_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { BENCH_INBOUND_SECRET } from "../mail_box.ts";
import { answerLines } from "./child.ts";
import { OPEN_LIMITS } from "./open_limits.ts";
import { watchCommits } from "./watch_commits.ts";

export interface RelayArgument {
  folder: string;
  /** Commits of one job each: the path without grouping. */
  ungrouped?: boolean;
  /** Every page is read from the store. */
  forgetful?: boolean;
  limits?: Record<string, number>;
  /** Mail is on, in local mode. */
  mail?: boolean;
  /** Where its mails go, except those with links, which it reports. */
  nextHopPort?: number;
  /** Asked for the "mail commit", it tells when the newest mail was committed, in unix ms. */
  watchesMail?: boolean;
  /** How far its clock is behind until it is asked to "catch up". */
  clockBehindMs?: number;
}

const argument: RelayArgument = JSON.parse(Deno.args[0]!);
const { folder, ungrouped, forgetful, limits, mail, nextHopPort, clockBehindMs = 0 } = argument;
const kv = await Deno.openKv(`${folder}/relay.kv`);
const backend = new KvBackend(kv);
let writes = 0;
const commit = backend.commit.bind(backend);
backend.commit = (checks, rows) => {
  writes += rows.length;
  return commit(checks, rows);
};
const mailCommitMs = argument.watchesMail ? watchCommits(kv, "mail-message") : () => null;
let behindMs = clockBehindMs;
let newestLink: string | null = null;
const log = (event: string, fields?: unknown) => console.error(event, fields);
const deps: Deps = {
  config: parseConfig({
    PORT: "0",
    ...(mail
      ? { RELAY_MAIL_DEV: "true", RELAY_MAIL_INBOUND_SECRET: base64.encode(BENCH_INBOUND_SECRET) }
      : {}),
    RELAY_DATA_DIR: folder,
    RELAY_LIMITS: JSON.stringify({
      ...OPEN_LIMITS,
      ...limits,
    }),
  }),
  backend,
  now: () => Date.now() - behindMs,
  elapsed: () => performance.now() - behindMs,
  random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  fetch,
  log,
  ...(nextHopPort === undefined ? {} : { mailer: mailerTo(nextHopPort) }),
};
const options: RelayOptions = {
  ...(ungrouped ? { capacity: { ...EMBEDDED_CAPACITY, jobs: 1 } } : {}),
  ...(forgetful ? { recentMessages: { bytes: 0, messagesAnInbox: 0, messageBytes: 0 } } : {}),
};
const relay = await openRelay(deps, options);
const serving = serve(relay, { host: "127.0.0.1", port: 0, log });
const smtpPort = Number(/SMTP at [^ ]*:([0-9]+)/.exec(relay.startupNotes().join("\n"))?.[1] ?? 0);
console.log(JSON.stringify({ port: serving.port, smtpPort }));
await answerLines(async (line) => {
  if (line === "catch up") behindMs = 0;
  // "tidy": what runs every minute, now.
  else if (line === "tidy") await relay.crons["figures"]!();
  if (line === "writes") return writes;
  if (line === "clock") return deps.now();
  if (line === "mail commit") return mailCommitMs();
  if (line.startsWith("forward ")) behindMs -= Number(line.slice("forward ".length));
  if (line === "newest link") {
    const link = newestLink;
    newestLink = null;
    return link;
  }
  const [, what, orgId, count] = /^(fill|rows of) org (\S+) ?(\d*)$/.exec(line) ?? [];
  if (what === "fill") await fillOrg(orgId!, Number(count));
  if (what === "rows of") return await countRows(orgId!);
  return true;
});
/** A next hop, before which mails with links are kept. */
function mailerTo(port: number): Mailer {
  const smtp = createSmtpMailer({
    smtp: { host: "127.0.0.1", port, secure: false },
    ehloName: "agents.test",
  });
  return {
    async send(mail, handover) {
      const text = mail.content.length > 20_000 ? "" : new TextDecoder().decode(mail.content);
      const link = /\/v1\/mail\/org\/claim\/confirm\?token=[A-Za-z0-9._-]+/.exec(
        text.replaceAll("=\r\n", "").replaceAll("=3D", "="),
      );
      if (link === null) return await smtp.send(mail, handover);
      await handover.beforeContent();
      newestLink = link[0];
      return { result: "sent", reason: "kept", reply: null };
    },
    close: () => smtp.close(),
  };
}

/** Rows such as an org has most of, written past the relay. */
async function fillOrg(orgId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const operation = kv.atomic();
    for (let i = from; i < Math.min(count, from + 500); i++) {
      operation.set(["mail-key-used", orgId, `key_${i}`], "x".repeat(200));
    }
    await operation.commit();
  }
}

async function countRows(orgId: string): Promise<number> {
  let count = 0;
  for await (const _ of kv.list({ prefix: ["mail-key-used", orgId] }, { batchSize: 500 })) count++;
  return count;
}

await serving.stop();
await deps.mailer?.close();
kv.close();
