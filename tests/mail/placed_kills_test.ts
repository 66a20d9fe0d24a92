/** kill -9 at each named step of receiving a mail; then a restart, and the sender's repetition. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { BLOB_KINDS, openBlobRig } from "../support/blob_rig.ts";
import { createTestClock } from "../support/clock.ts";
import { FIRST_MAIL_STEPS, HALT_STEPS, type HaltStep } from "../support/halt_steps.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, MailKeyHolder } from "../support/mail_caller.ts";
import { askMail, signRegistration } from "../support/mail_relay.ts";
import { auditMailboxes, auditStorage } from "../support/mailbox_audit.ts";
import { openKvFile } from "../support/read_through.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";

const SECRET = new Uint8Array(32).fill(9);
const ADDRESS = "ada@agents.test";
/** Bytes that are on the disk, and that no commit keeps. */
const ORPHANS: readonly HaltStep[] = [
  "file named",
  "bytes written",
  "before commit",
  "commit formed",
];
/** From here on the mail is stored, though its sender does not know. */
const STORED: readonly HaltStep[] = ["committed", "before answer"];

interface Mail {
  id: string;
  raw: string;
}

const newMail = (step: string): Mail => ({
  id: `mail at ${step}`.replaceAll(" ", "_"),
  raw: mailText({ headers: { Subject: step }, text: `${step}. `.repeat(200) }),
});

async function spawn(dataDir: string, halt?: { step: HaltStep; mail: number }) {
  const env = {
    RELAY_DATA_DIR: dataDir,
    RELAY_MAIL_DEV: "true",
    RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
  };
  if (halt === undefined) return await spawnRelay({ env });
  const { step, mail } = halt;
  return await spawnRelay({
    env: { ...env, TEST_HALT_AT: step, TEST_HALT_MAIL: String(mail) },
    entry: "relay_halting.ts",
    stopAt: { pattern: new RegExp(`^halted at: ${step}$`, "m"), signal: "SIGKILL" },
  });
}

const deliver = ({ url }: SpawnedRelay, { id, raw }: Mail) =>
  handIn(url, {
    to: [ADDRESS],
    raw,
    timestamp: Math.floor(Date.now() / 1000),
    secret: SECRET,
    id,
  });

/** Hands a mail in that its relay does not live to answer. */
async function deliverInVain(relay: SpawnedRelay, mail: Mail): Promise<void> {
  await assert.rejects(deliver(relay, mail), TypeError);
  const { signal } = await relay.status;
  assert.equal(signal, "SIGKILL", relay.output().stderr);
}

async function subjectsOf(relay: SpawnedRelay, holder: MailKeyHolder): Promise<string[]> {
  const path = `/v1/mail/inboxes/${ADDRESS}/messages?order=asc&limit=100`;
  const { data } = accepted(await holder.at(relay).ask("GET", path), 200);
  return data.map(({ subject }: { subject: string }) => subject);
}

async function rawOf(relay: SpawnedRelay, holder: MailKeyHolder): Promise<string[]> {
  const path = `/v1/mail/inboxes/${ADDRESS}/messages?order=asc&limit=100`;
  const { data } = accepted(await holder.at(relay).ask("GET", path), 200);
  return await Promise.all(data.map(async ({ id }: { id: string }) => {
    const answer = await holder.at(relay).ask("GET", `/v1/mail/messages/${id}/raw`);
    return accepted(answer, 200);
  }));
}

async function openAccount(relay: SpawnedRelay): Promise<MailKeyHolder> {
  const body = signRegistration(Date.now());
  const answer = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
  const { api_key, org_id } = accepted(answer, 201);
  const holder = new MailKeyHolder(relay.url, api_key, org_id);
  await holder.inbox({ local_part: "ada" });
  return holder;
}

/** After the sweep there are the bytes of these mails and no others, and the org counts them alone. */
async function checkSwept(dataDir: string, mails: number, orphans: number): Promise<void> {
  using kv = await openKvFile(join(dataDir, "relay.kv"));
  const clock = createTestClock(Date.now());
  await using rig = await openBlobRig({ kind: BLOB_KINDS[0], kv, dataDir, clock });
  const named = (await rig.files()).filter((path) => !path.endsWith(".tmp"));
  assert.equal(named.length, mails + orphans);
  await rig.hours(4);
  assert.equal((await rig.files()).length, mails);
  assert.equal((await auditStorage(kv)).length, mails);
  assert.equal((await auditMailboxes(kv)).size, mails);
  assert.deepEqual(rig.part.notes, []);
  assert.deepEqual(rig.logged, []);
}

async function withFolder(test: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-placed-kills-" });
  try {
    await test(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("kill -9 at each step of receiving a mail: the repetition is stored once, whole, and counted once", async () => {
  await withFolder(async (dataDir) => {
    const steps = HALT_STEPS.filter((step) => !FIRST_MAIL_STEPS.includes(step));
    assert.equal(steps.length, 14);
    const stored: string[] = [];
    const mails: Mail[] = [];
    let holder: MailKeyHolder | undefined;
    let last: Mail | undefined;
    for (const step of steps) {
      await using relay = await spawn(dataDir, { step, mail: last === undefined ? 1 : 2 });
      holder ??= await openAccount(relay);
      if (last !== undefined) await repeat(relay, last);
      mails.push(last = newMail(step));
      stored.push(step);
      await deliverInVain(relay, last);
    }
    const killed = await spawn(dataDir);
    await repeat(killed, last!);
    const answered = newMail("answered");
    accepted(await deliver(killed, answered), 200);
    await killed.kill("SIGKILL");
    stored.push("answered");
    mails.push(answered);

    await using relay = await spawn(dataDir);
    // Under its own id, and under another one, as from another gateway: nothing is stored twice.
    for (const id of [answered.id, "from_another_gateway"]) {
      const again = await deliver(relay, { ...answered, id });
      assert.deepEqual(accepted(again, 200), { accepted: [ADDRESS], rejected: [] });
    }
    assert.deepEqual(await subjectsOf(relay, holder!), stored);
    assert.deepEqual(await rawOf(relay, holder!), mails.map(({ raw }) => raw));
    assert.equal((await relay.terminate()).code, 0);
    await checkSwept(dataDir, stored.length, ORPHANS.length);

    async function repeat(relay: SpawnedRelay, mail: Mail): Promise<void> {
      const step = stored.at(-1) as HaltStep;
      const before = STORED.includes(step) ? stored : stored.slice(0, -1);
      assert.deepEqual(await subjectsOf(relay, holder!), before, `killed at: ${step}`);
      const again = await deliver(relay, mail);
      assert.deepEqual(accepted(again, 200), { accepted: [ADDRESS], rejected: [] });
      assert.deepEqual(await subjectsOf(relay, holder!), stored, `killed at: ${step}`);
    }
  });
});

for (const step of FIRST_MAIL_STEPS) {
  Deno.test(`kill -9 of the first mail of a store, at: ${step}`, async () => {
    await withFolder(async (dataDir) => {
      const relay = await spawn(dataDir, { step, mail: 1 });
      const holder = await openAccount(relay);
      const mail = newMail(step);
      await deliverInVain(relay, mail);
      await using next = await spawn(dataDir);
      assert.doesNotMatch(next.output().stdout, /mail files/);
      accepted(await deliver(next, mail), 200);
      assert.deepEqual(await subjectsOf(next, holder), [step]);
      assert.equal((await next.terminate()).code, 0);
      await checkSwept(dataDir, 1, 0);
    });
  });
}
