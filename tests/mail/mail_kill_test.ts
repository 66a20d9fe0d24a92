/** kill -9 of a relay that takes mail: what it accepted is there once and whole, the rest is not half there. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { seededRandom } from "../support/fake_kv.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { isLong } from "../support/long_test.ts";
import { auditMailboxes } from "../support/mailbox_audit.ts";
import { accepted, MailKeyHolder } from "../support/mail_caller.ts";
import { askMail, signRegistration } from "../support/mail_relay.ts";
import { delay } from "../support/pace.ts";
import { openKvFile } from "../support/read_through.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import { startRelayProcesses } from "../support/relay_processes.ts";

const ROUNDS = isLong ? 20 : 3;
const LANES = 4;
const SECRET = new Uint8Array(32).fill(9);
const ENV = {
  RELAY_MAIL_DEV: "true",
  RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
  RELAY_LIMITS: JSON.stringify({
    mailInboundPerTrialInboxPerHour: 1_000_000,
    mailStorageBytesPerTrial: 2 ** 40,
    mailInboundBytesPerInboxPerHour: 2 ** 40,
  }),
};

interface Sent {
  raw: string;
  isAccepted: boolean;
}

async function register(relay: SpawnedRelay): Promise<MailKeyHolder> {
  const body = signRegistration(Date.now());
  const answer = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
  const { api_key, org_id } = accepted(answer, 201);
  return new MailKeyHolder(relay.url, api_key, org_id);
}

/** Hands in mail, and sometimes reads, marks and deletes, until told to stop. */
async function load(
  urls: readonly string[],
  holder: MailKeyHolder,
  address: string,
  random: () => number,
  sent: Sent[],
  gone: Set<string>,
  isOver: () => boolean,
): Promise<void> {
  const lane = async () => {
    while (!isOver()) {
      const url = urls[Math.floor(random() * urls.length)]!;
      // Small ones, and ones of many writes.
      const text = "x".repeat(Math.floor(random() ** 4 * 400_000)).replaceAll(/.{76}/g, "$&\r\n");
      const before = sent.filter(({ isAccepted }) => isAccepted).at(-1);
      const headers: Record<string, string> = random() < 0.3 && before !== undefined
        ? { "In-Reply-To": /^Message-ID: (.*)\r$/m.exec(before.raw)![1]! }
        : {};
      const one = { raw: mailText({ headers, text }), isAccepted: false };
      sent.push(one);
      const timestamp = Math.floor(Date.now() / 1000);
      try {
        const { status } = await handIn(url, {
          to: [address],
          raw: one.raw,
          timestamp,
          secret: SECRET,
        });
        one.isAccepted = status === 200;
        if (status !== 200 && status !== 503) throw new Error(`answered ${status}`);
        if (random() < 0.2) {
          const { key, orgId } = holder;
          const at = new MailKeyHolder(url, key, orgId);
          const { data } = accepted(
            await at.ask("GET", `/v1/mail/inboxes/${address}/messages`),
            200,
          );
          const { id } = data[Math.floor(random() * data.length)];
          gone.add(id);
          await at.ask("DELETE", `/v1/mail/messages/${id}`);
        }
      } catch (error) {
        if (!(error instanceof TypeError) && !(error instanceof Deno.errors.Http)) throw error;
        await delay(1);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

const hashOf = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Asserts that the accepted ones are there once and byte for byte, and that none is half there. */
async function check(
  url: string,
  dataDir: string,
  holder: MailKeyHolder,
  sent: readonly Sent[],
  gone: ReadonlySet<string>,
): Promise<number> {
  using kv = await openKvFile(join(dataDir, "relay.kv"));
  const messages = await auditMailboxes(kv);
  const known = new Map(sent.map((one) => [hashOf(one.raw), one]));
  const found = new Set<string>();
  for (const { id } of messages.values()) {
    const headers = { Authorization: `Bearer ${holder.key}` };
    const raw = await fetch(`${url}/v1/mail/messages/${id}/raw`, { headers });
    assert.equal(raw.status, 200, id);
    const hash = hashOf(await raw.bytes());
    assert.ok(known.has(hash), "what nobody sent is there");
    assert.ok(!found.has(hash), "a message is there twice");
    found.add(hash);
    const whole = await fetch(`${url}/v1/mail/messages/${id}`, { headers });
    assert.equal(whole.status, 200);
    await whole.body?.cancel();
  }
  const missing = [...known].filter(([hash, one]) => one.isAccepted && !found.has(hash));
  assert.ok(
    missing.length <= gone.size,
    `${missing.length} are missing, ${gone.size} were deleted`,
  );
  return messages.size;
}

Deno.test(`kill -9 while mail comes, ${ROUNDS} rounds: what was accepted is there once and whole`, async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-mail-kill-" });
  const random = seededRandom(26);
  const sent: Sent[] = [];
  const gone = new Set<string>();
  let holder: MailKeyHolder | undefined;
  const address = "ada@agents.test";
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await using relay = await spawnRelay({ env: { ...ENV, RELAY_DATA_DIR: dataDir } });
      if (holder === undefined) {
        holder = await register(relay);
        await holder.inbox({ local_part: "ada" });
      } else await check(relay.url, dataDir, holder, sent, gone);
      const before = sent.filter(({ isAccepted }) => isAccepted).length;
      let isOver = false;
      const loaded = load([relay.url], holder, address, random, sent, gone, () => isOver);
      while (sent.filter(({ isAccepted }) => isAccepted).length < before + 10) await delay(5);
      await delay(random() * 60);
      isOver = true;
      await relay.kill("SIGKILL");
      await loaded;
    }
    await using relay = await spawnRelay({ env: { ...ENV, RELAY_DATA_DIR: dataDir } });
    const open = sent.filter(({ isAccepted }) => !isAccepted);
    const stored = await check(relay.url, dataDir, holder!, sent, gone);
    assert.ok(stored >= 10);
    // A sender without an answer hands in again: stored once in all.
    for (const one of open) {
      const timestamp = Math.floor(Date.now() / 1000);
      accepted(
        await handIn(relay.url, { to: [address], raw: one.raw, timestamp, secret: SECRET }),
        200,
      );
      one.isAccepted = true;
    }
    await check(relay.url, dataDir, holder!, sent, gone);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("kill -9 of one of two processes on a file: the other takes mail on, nothing is lost or doubled", async () => {
  await using processes = await startRelayProcesses(1, { env: ENV });
  const survivor = processes.relays[0]!;
  const holder = await register(survivor);
  await holder.inbox({ local_part: "ada" });
  const random = seededRandom(27);
  const sent: Sent[] = [];
  const gone = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const { relay } = await processes.add();
    let isOver = false;
    const urls = [survivor.url, relay.url];
    const loaded = load(urls, holder, "ada@agents.test", random, sent, gone, () => isOver);
    const before = sent.length;
    while (sent.length < before + 30) await delay(5);
    await relay.kill("SIGKILL");
    await delay(30);
    isOver = true;
    await loaded;
    await check(survivor.url, processes.dataDir, holder, sent, gone);
  }
});
