/** The ways to copy the embedded store that docs/operations.md names. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { BLOB_KINDS, blobFilesIn, openBlobRig } from "../support/blob_rig.ts";
import { createTestClock } from "../support/clock.ts";
import { post } from "../support/local_mail.ts";
import { accepted, MailKeyHolder } from "../support/mail_caller.ts";
import { askMail, signRegistration } from "../support/mail_relay.ts";
import { delay } from "../support/pace.ts";
import { openKvFile } from "../support/read_through.ts";
import { spawnBlobWriter } from "../support/spawn_blob_writer.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent } from "../support/test_agent.ts";
import { realTarget, TRAFFIC_LIMITS } from "../support/traffic.ts";
import { Ledger } from "./ledger.ts";

const AGENTS = 3;
const RELAY_LIMITS = JSON.stringify(TRAFFIC_LIMITS);

async function makeFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "relay-backup-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function startLedger(dataDir: string) {
  const relay = await spawnRelay({ env: { RELAY_DATA_DIR: dataDir, RELAY_LIMITS } });
  const target = realTarget(relay.url);
  const ledger = new Ledger();
  for (let i = 0; i < AGENTS; i++) ledger.enroll(await registerAgent(target, `agent_${i}`));
  return { relay, target, ledger };
}

/** A relay on the copy has everything the ledger knows, and goes on from there. */
async function checkCopy(dataDir: string, ledger: Ledger): Promise<void> {
  await using relay = await spawnRelay({ env: { RELAY_DATA_DIR: dataDir, RELAY_LIMITS } });
  assert.equal(relay.output().stderr, "");
  const target = realTarget(relay.url);
  await ledger.check(target);
  const before = ledger.lastId;
  await ledger.send(target, 0, 1);
  assert.ok(ledger.lastId > before);
  await ledger.check(target);
}

Deno.test("a copy of relay.kv alone, of a stopped relay, is a backup", async () => {
  await using original = await makeFolder();
  await using copy = await makeFolder();
  const { relay, target, ledger } = await startLedger(original.path);
  for (let i = 0; i < 30; i++) await ledger.send(target, i % AGENTS, (i + 1) % AGENTS);
  assert.equal((await relay.terminate()).code, 0);
  await Deno.copyFile(join(original.path, "relay.kv"), join(copy.path, "relay.kv"));
  await checkCopy(copy.path, ledger);
});

/** VACUUM INTO attaches its target, which Deno's SQLite allows with all permissions only: a process of its own. */
async function vacuumInto(from: string, to: string): Promise<void> {
  const program = `import { DatabaseSync } from "node:sqlite";
    const [from, to] = Deno.args;
    new DatabaseSync(from, { readOnly: true }).exec("VACUUM INTO '" + to + "'");`;
  const folder = await Deno.makeTempDir({ prefix: "relay-vacuum-" });
  try {
    const script = join(folder, "vacuum.ts");
    await Deno.writeTextFile(script, program);
    const args = ["run", "--no-config", "-A", script, from, to];
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("VACUUM INTO makes a whole backup of a relay that serves under load", async () => {
  await using original = await makeFolder();
  await using copy = await makeFolder();
  const { relay, target, ledger } = await startLedger(original.path);
  await using _ = relay;
  const before = new Ledger("on the copy");
  let isOver = false;
  const lanes = [0, 1, 2].map(async (from) => {
    while (!isOver) await ledger.send(target, from, (from + 1) % AGENTS);
  });
  while (ledger.acknowledged.size < 20) await delay(10);
  const known = new Map(ledger.acknowledged);
  await vacuumInto(join(original.path, "relay.kv"), join(copy.path, "relay.kv"));
  const during = ledger.acknowledged.size;
  while (ledger.acknowledged.size < during + 10) await delay(10);
  isOver = true;
  await Promise.all(lanes);
  await ledger.check(target); // the original goes on as before
  // The copy holds what was acknowledged before it began.
  for (const agent of ledger.enrolled) before.enroll(agent);
  for (const [id, attempt] of known) before.acknowledged.set(id, attempt);
  await checkCopy(copy.path, before);
});

/** The command of docs/operations.md: whole files only, which never change. */
async function copyMail(from: string, to: string): Promise<void> {
  const command = `tar -C "${from}" --exclude="*.tmp" -cf - mail | tar -C "${to}" -xpf -`;
  const { success, stderr } = await new Deno.Command("sh", { args: ["-c", command] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("VACUUM INTO and a copy of mail/ after it back up blobs that are written meanwhile", async () => {
  await using original = await makeFolder();
  await using copy = await makeFolder();
  const [kind] = BLOB_KINDS;
  const writer = spawnBlobWriter(kind, original.path);
  await using _ = writer;
  await writer.hasKept(30);
  const known = [...writer.kept];
  await vacuumInto(join(original.path, "relay.kv"), join(copy.path, "relay.kv"));
  await writer.hasKept(writer.kept.length + 30);
  await copyMail(original.path, copy.path);
  await writer.hasKept(writer.kept.length + 10); // the original goes on
  await writer.kill();

  using kv = await openKvFile(join(copy.path, "relay.kv"));
  const clock = createTestClock(Date.now());
  await using rig = await openBlobRig({ kind, kv, dataDir: copy.path, clock });
  assert.deepEqual(rig.part.notes, [], "the files are those of this store");
  const copied = (await rig.files()).length;
  rig.part.start!();
  await rig.hours(4);
  assert.ok(known.length >= 30);
  for (const ref of known) {
    assert.equal((await rig.blobs.read(ref, 0)).length, ref.sections[0]!.sizeBytes);
  }
  const rows = await rig.rows("blob");
  assert.ok(rows.length < copied, "nothing was written between the two copies");
  assert.equal((await rig.files()).length, rows.length, "what the store does not name is swept");
  assert.deepEqual(rig.logged, []);
});

Deno.test("a copy of the store from just before the first mail, and of mail/ from after it, are a backup", async () => {
  await using original = await makeFolder();
  await using copy = await makeFolder();
  const envOf = (dataDir: string) => ({ RELAY_MAIL_DEV: "true", RELAY_DATA_DIR: dataDir });
  const writeTo = async (url: string, subject: string) => {
    const mail = { from: "ann@example.org", to: "ada@agents.test", subject, text: "Hello." };
    const { status, text } = await post(`${url}/dev/mail`, mail);
    assert.equal(status, 200, text);
  };
  {
    await using relay = await spawnRelay({ env: envOf(original.path) });
    const answer = await askMail(relay.url, "POST", "/v1/mail/agents/register", {
      body: signRegistration(Date.now()),
    });
    const { api_key, org_id } = accepted(answer, 201);
    await new MailKeyHolder(relay.url, api_key, org_id).inbox({ local_part: "ada" });
    await vacuumInto(join(original.path, "relay.kv"), join(copy.path, "relay.kv"));
    await writeTo(relay.url, "after the copy of the store");
    await copyMail(original.path, copy.path);
  }
  for (const name of ["custody.key", "inbound.secret"]) {
    await Deno.copyFile(join(original.path, name), join(copy.path, name));
  }
  const lost = await blobFilesIn(copy.path);
  assert.equal(lost.length, 1);
  for (let start = 1; start <= 2; start++) {
    await using relay = await spawnRelay({ env: envOf(copy.path) });
    assert.doesNotMatch(relay.output().stdout, /mail files/);
    await writeTo(relay.url, `after start ${start}`);
    assert.equal(relay.output().stderr, "");
    await relay.terminate();
  }
  using kv = await openKvFile(join(copy.path, "relay.kv"));
  const clock = createTestClock(Date.now());
  await using rig = await openBlobRig({ kind: BLOB_KINDS[0], kv, dataDir: copy.path, clock });
  assert.equal((await rig.files()).length, 3);
  await rig.hours(4);
  const files = await rig.files();
  assert.equal(files.length, 2, "what came between the copies is swept, and nothing else");
  assert.ok(!files.includes(lost[0]!));
  assert.equal((await rig.rows("blob")).length, 2);
  assert.deepEqual(rig.logged, []);
});
