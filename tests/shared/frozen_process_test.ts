import assert from "node:assert/strict";
import { retryWhileLocked } from "../../server/base/storage/deno_kv/lock_retry.ts";
import { join } from "node:path";
import { assertRefused } from "../support/answer.ts";
import { openBlobRig } from "../support/blob_rig.ts";
import { createTestClock } from "../support/clock.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../support/mail_caller.ts";
import { askMail, signRegistration } from "../support/mail_relay.ts";
import { delay, settlesWithin } from "../support/pace.ts";
import { openKvFile } from "../support/read_through.ts";
import { type RelayProcesses, startRelayProcesses } from "../support/relay_processes.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, toBytes } from "../support/test_agent.ts";
import { TRAFFIC_LIMITS } from "../support/traffic.ts";

/** Long enough for a busy machine to renew it in time. */
const LEASE_MS = 3_000;
const CLOCK_SKEW_MS = 100;
const SLOTS = 255;

/** Holds all slots of the store but one, as processes do that live; disposing of it ends that. */
async function leaveFree(processes: RelayProcesses, free: number): Promise<AsyncDisposable> {
  const held = Array.from({ length: SLOTS }, (_, i) => i + 1).filter((number) => number !== free);
  const set = (kv: Deno.Kv, row: string, value: unknown) => {
    const operation = kv.atomic();
    for (const number of held) operation.set(["slot", number, row], value);
    return operation.commit();
  };
  const renew = (kv: Deno.Kv) =>
    set(kv, "lease", { v: 1, untilMs: Date.now() + LEASE_MS + CLOCK_SKEW_MS / 2 });
  await processes.withKv(async (kv) => {
    await set(kv, "owner", { v: 1, holder: "elsewhere" });
    await renew(kv);
  });
  let isOver = false;
  const renewing = processes.withKv(async (kv) => {
    while (!isOver) {
      await retryWhileLocked(() => renew(kv));
      await delay(LEASE_MS / 10);
    }
  });
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await renewing;
    },
  };
}

/** Stops a process between two transactions: inside one it would hold the file's write lock. */
async function freeze(processes: RelayProcesses, pid: number): Promise<void> {
  await processes.withKv(async (kv) => {
    for (let tries = 0; tries < 100; tries++) {
      Deno.kill(pid, "SIGSTOP");
      const written = kv.set(["probe"], tries);
      if (await settlesWithin(written, 300)) return;
      Deno.kill(pid, "SIGCONT");
      await written;
      await delay(5 + tries);
    }
    throw new Error("the process was inside a transaction a hundred times");
  });
}

Deno.test("a process frozen past its lease commits nothing under its slot once another has it", async () => {
  await using processes = await startRelayProcesses(0, {
    entry: "relay_with_timing.ts",
    limits: TRAFFIC_LIMITS,
    env: { TEST_LEASE_MS: String(LEASE_MS), TEST_CLOCK_SKEW_MS: String(CLOCK_SKEW_MS) },
  });
  await using _others = await leaveFree(processes, 77);
  const frozen = await processes.add();
  const alice = await registerAgent(frozen.target, "alice");
  await registerAgent(frozen.target, "bob");

  let stopped = false;
  let sent = 0;
  const accepted: { id: number; text: string }[] = [];
  const unclear: string[] = [];
  /** Sends as fast as answers come; frozen in the middle of it. */
  async function sendOn(lane: number): Promise<void> {
    while (!stopped) {
      const text = `${lane}/${sent++}`;
      const answer = await alice.send({ to: "bob", body: { text } }).catch(() => null);
      if (answer?.status === 201) accepted.push({ id: answer.json.id, text });
      else {
        unclear.push(text);
        if (answer !== null) assertRefused(answer, "unavailable");
      }
    }
  }
  const lanes = [1, 2, 3, 4].map(sendOn);
  while (accepted.length < 20) await delay(10);
  await freeze(processes, frozen.relay.pid);
  stopped = true;
  await delay(LEASE_MS + CLOCK_SKEW_MS + 200);

  // The only slot there is changes hands, and its new holder writes under it.
  const heir = await processes.add();
  const mailbox = await registerAgent(heir.target, "carol");
  const theirs = await mailbox.sent({ to: "bob", body: { text: "heir" } });
  assert.equal(theirs % 256, 77);
  Deno.kill(frozen.relay.pid, "SIGCONT");
  await Promise.all(lanes);

  // Without a slot it tells its callers to come back; with one it serves again.
  const refused = await alice.send({ to: "bob", body: { text: "no slot" } });
  assertRefused(refused, "unavailable");
  await processes.withKv((kv) => kv.atomic().delete(["slot", 78, "owner"]).commit());
  const late = await alice.sent({ to: "bob", body: { text: "late" } });
  assert.equal(late % 256, 78);
  accepted.push({ id: theirs, text: "heir" }, { id: late, text: "late" });

  const rows = await processes.withKv(async (kv) => {
    const bob = await kv.get<{ id: number }>(["handle", "bob"]);
    return await Array.fromAsync(kv.list<{ createdAtMs: number }>({
      prefix: ["inbox", bob.value!.id],
    }));
  });
  const ids = rows.map(({ key }) => Number(key[2]));
  const versions = rows.map(({ versionstamp }) => versionstamp);
  assert.deepEqual(versions, versions.toSorted(), "ids ascend in commit order");
  for (const id of ids) {
    if (id > theirs) assert.notEqual(id % 256, 77, "the frozen process wrote under a lost slot");
  }
  const known = new Set(accepted.map(({ id }) => id));
  assert.equal(known.size, accepted.length);
  for (const id of known) assert.ok(ids.includes(id), `message ${id} was acknowledged and is lost`);
  assert.ok(ids.length <= known.size + unclear.length);
});

Deno.test("a process frozen within its lease goes on as if nothing had happened", async () => {
  await using processes = await startRelayProcesses(2, { limits: TRAFFIC_LIMITS });
  const [a, b] = [processes.targets[0]!, processes.targets[1]!];
  const alice = await registerAgent(a, "alice");
  await registerAgent(a, "bob");
  const before = await alice.sent({ to: "bob", body: 1 });
  await freeze(processes, processes.relays[0]!.pid);
  const body = toBytes({ to: "bob", body: 2 });
  const timestamp = a.clock.seconds();
  const frozen = alice.call("POST", "/v1/messages", { body, timestamp });
  const meanwhile = await alice.at(b).call("POST", "/v1/messages", { body, timestamp });
  Deno.kill(processes.relays[0]!.pid, "SIGCONT");
  const late = await frozen;
  assert.equal(meanwhile.status, 201);
  assert.equal(late.status, 201);
  assert.equal(late.json.id, meanwhile.json.id);
  assert.equal(late.headers.get("idempotent-replayed"), "true");
  const after = await alice.sent({ to: "bob", body: 3 });
  assert.ok(before < late.json.id && late.json.id < after);
  assert.equal(before % 256, after % 256);
});

// Its clocks say nothing: for the frozen process hardly a second has passed.
for (const step of ["before commit", "commit formed"]) {
  Deno.test(`a process that was frozen with a mail, ${step}, keeps nothing that another has swept`, async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "relay-frozen-mail-" });
    const secret = new Uint8Array(32).fill(9);
    try {
      await using relay = await spawnRelay({
        entry: "relay_halting.ts",
        env: {
          RELAY_DATA_DIR: dataDir,
          RELAY_SHARED_STORE: "true",
          RELAY_MAIL_DEV: "true",
          RELAY_MAIL_INBOUND_SECRET: `whsec_${secret.toBase64()}`,
          TEST_HALT_AT: step,
          TEST_HALT_MAIL: "1",
        },
      });
      const body = signRegistration(Date.now());
      const made = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
      const { api_key, org_id } = accepted(made, 201);
      const holder = new MailKeyHolder(relay.url, api_key, org_id);
      const { address } = await holder.inbox();
      const raw = mailText();
      const deliver = () => {
        const timestamp = Math.floor(Date.now() / 1000);
        return handIn(relay.url, { to: [address], raw, timestamp, secret, id: "one_mail" });
      };
      const delivered = deliver();
      await relay.wrote(new RegExp(`halted at: ${step}\n`));

      using kv = await openKvFile(join(dataDir, "relay.kv"));
      const clock = createTestClock(Date.now());
      await using other = await openBlobRig({
        kind: { form: "files", exclusive: false },
        kv,
        dataDir,
        clock,
      });
      assert.equal((await other.files()).length, 1);
      await other.hours(4);
      assert.deepEqual(await other.files(), []);
      await Deno.writeTextFile(join(dataDir, "go"), "");

      assertMailRefused(await delivered, "unavailable", /nothing was kept, send it again/);
      assert.deepEqual(await other.rows("blob"), []);
      accepted(await deliver(), 200);
      const { data } = accepted(
        await holder.ask("GET", `/v1/mail/inboxes/${address}/messages`),
        200,
      );
      assert.equal(data.length, 1);
      const stored = await holder.ask("GET", `/v1/mail/messages/${data[0].id}/raw`);
      assert.equal(accepted(stored, 200), raw);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
