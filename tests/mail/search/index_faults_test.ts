/** Whatever becomes of the index's file: answers are right, and the file is made anew. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { countReads } from "../../support/count_reads.ts";
import { isLong } from "../../support/long_test.ts";
import { seededRandom } from "../../support/fake_kv.ts";
import { propertySeed } from "../../support/property_runs.ts";
import { smallDiskOrSkip } from "../../support/small_disk.ts";
import { newId, openSearchRig, type SearchRig, type TestMail } from "../../support/search_rig.ts";

const WORDS = ["red", "green", "blue", "日本語", "Привет"];
const COUNT = 120;

/** Each third mail has each word, and one word of its own. */
const mailNo = (i: number): TestMail => ({
  subject: `number n${i}`,
  text: `${WORDS.filter((_, at) => i % (at + 2) === 0).join(" ")} of mail${i}`,
});

interface World extends AsyncDisposable {
  dir: string;
  clock: TestClock;
  orgId: string;
  inboxIds: string[];
  open(kv?: Deno.Kv): Promise<SearchRig>;
  kv: Deno.Kv;
}

/** A store of two inboxes with an index of all their mail; nothing runs. */
async function makeWorld(count = COUNT): Promise<World> {
  const kv = await Deno.openKv(":memory:");
  const dir = await Deno.makeTempDir();
  const clock = createTestClock();
  const orgId = newId("org");
  const inboxIds: string[] = [];
  const open = (of = kv) => openSearchRig({ kv: of, dir, clock });
  {
    await using rig = await open();
    for (let i = 0; i < 2; i++) inboxIds.push(await rig.addInbox(orgId));
    for (let i = 0; i < count; i++) {
      clock.advance(1_000);
      await rig.deliver(orgId, inboxIds[i % 2]!, mailNo(i));
    }
    await rig.index.catchUp();
  }
  return {
    ...{ kv, dir, clock, orgId, inboxIds, open },
    async [Symbol.asyncDispose]() {
      kv.close();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** @returns whether the index answered alone, each answer compared with the scan's */
async function compareEngines(rig: SearchRig, { orgId, inboxIds }: World): Promise<boolean> {
  const lists = rig.lists();
  for (const q of [...WORDS, "number", "mail7", "mail8", "n119", '"number n5"', "nothing"]) {
    for (const ids of [inboxIds, inboxIds.slice(0, 1)]) {
      const byIndex = await rig.findAll("indexed", orgId, ids, q);
      assert.deepEqual(byIndex, await rig.findAll("scanned", orgId, ids, q), q);
    }
  }
  return rig.lists() === lists;
}

async function indexFile({ folder }: SearchRig): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  const files = names.filter((name) => name.endsWith(".db"));
  assert.equal(files.length, 1, names.join(" "));
  return join(folder, files[0]!);
}

const FAULTS: Record<string, (file: string) => Promise<void>> = {
  deleted: (file) => Deno.remove(file),
  emptied: (file) => Deno.truncate(file, 0),
  truncated: async (file) => await Deno.truncate(file, (await Deno.stat(file)).size / 2),
  "cut by a page": async (file) => await Deno.truncate(file, (await Deno.stat(file)).size - 4096),
  "of something else": (file) => Deno.writeTextFile(file, "no database\n".repeat(999)),
  async "of another format"(file) {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(file);
    db.exec("PRAGMA user_version = 99");
    db.close();
  },
};

for (const [fault, damage] of Object.entries(FAULTS)) {
  Deno.test(`MailIndex finds out that its file was ${fault}, and makes it anew`, async () => {
    await using world = await makeWorld();
    let file: string;
    {
      await using rig = await world.open();
      await rig.index.catchUp();
      assert.ok(await compareEngines(rig, world), "it is used after a start");
      file = await indexFile(rig);
      assert.deepEqual(rig.logged, []);
    }
    await damage(file);
    await using rig = await world.open();
    assert.equal(await compareEngines(rig, world), false, "before it is looked at");
    await rig.index.catchUp();
    assert.ok(await compareEngines(rig, world), "afterwards");
    assert.notEqual(await indexFile(rig), file);
    const told = fault === "deleted" ? [] : ["mail_index_made"];
    assert.deepEqual(rig.logged.map(({ event }) => event), told);
  });
}

Deno.test("MailIndex answers right while its file is destroyed under it, and makes it anew", async () => {
  await using world = await makeWorld();
  await using rig = await world.open();
  await rig.index.catchUp();
  const file = await indexFile(rig);
  for (const name of [file, `${file}-wal`]) await Deno.truncate(name, 0).catch(() => {});
  await compareEngines(rig, world);
  await rig.deliver(world.orgId, world.inboxIds[0]!, mailNo(COUNT));
  await rig.index.catchUp();
  await compareEngines(rig, world);
  await rig.index.catchUp();
  assert.ok(await compareEngines(rig, world));
});

Deno.test("MailIndex.open() finds every turned bit that would change an answer", async () => {
  await using world = await makeWorld(40);
  let file: string;
  {
    await using rig = await world.open();
    await rig.index.catchUp();
    file = await indexFile(rig);
  }
  let made = 0;
  const random = seededRandom(propertySeed());
  for (let round = 0; round < (isLong ? 300 : 8); round++) {
    const bytes = await Deno.readFile(file);
    const at = Math.floor(random() * bytes.length);
    bytes[at]! ^= 1 << Math.floor(random() * 8);
    await Deno.writeFile(file, bytes);
    await using rig = await world.open();
    await rig.index.catchUp();
    assert.ok(await compareEngines(rig, world), `bit in byte ${at}`);
    made += rig.logged.length;
    file = await indexFile(rig);
  }
  assert.ok(made > 0, "no turned bit was found");
});

/** All rows of a store, as a backup has them. */
async function copyOf(kv: Deno.Kv): Promise<Deno.Kv> {
  const copy = await Deno.openKv(":memory:");
  for await (const { key, value } of kv.list({ prefix: [] })) await copy.set(key, value);
  return copy;
}

for (
  const [clock, ms] of [["has gone on", 60_000], ["stands", 0], ["went back", -60_000]] as const
) {
  Deno.test(`MailIndex forgets what an inbox had before its store was restored, however alike it became (the clock ${clock})`, async () => {
    await using world = await makeWorld(20);
    const { orgId, inboxIds } = world;
    using backup = await copyOf(world.kv);
    const change = async (rig: SearchRig, from: number, removed: number) => {
      const rows = [];
      for (let i = from; i < from + 3; i++) {
        rows.push(await rig.deliver(orgId, inboxIds[0]!, mailNo(i)));
      }
      await rig.remove(rows[removed]!);
    };
    {
      await using rig = await world.open();
      await change(rig, 20, 0);
      await rig.index.catchUp();
      assert.ok(await compareEngines(rig, world));
    }
    await using rig = await world.open(backup);
    // As many commits and messages as the index knows, before it is compared.
    world.clock.advance(ms);
    await change(rig, 30, 1);
    await compareEngines(rig, world);
    await rig.index.catchUp();
    await rig.index.catchUp();
    assert.ok(await compareEngines(rig, world));
    const [row] = (await rig.findAll("indexed", orgId, inboxIds, "n32")).found;
    assert.ok(row !== undefined);
    assert.deepEqual((await rig.findAll("indexed", orgId, inboxIds, "n22")).found, []);
    assert.deepEqual((await rig.indexBytes()).includes("mail22"), false);
  });
}

Deno.test("MailIndex catches up with what was stored and removed while nobody told it", async () => {
  await using world = await makeWorld(30);
  const { orgId, inboxIds } = world;
  {
    await using rig = await world.open();
    const rows = [];
    for (let i = 30; i < 36; i++) rows.push(await rig.deliver(orgId, inboxIds[i % 2]!, mailNo(i)));
    await rig.index.catchUp();
    await rig.remove(rows[0]!, false);
    await rig.remove(rows[3]!, false);
    assert.equal(await compareEngines(rig, world), false, "it sees that it is behind");
    await rig.deliver(orgId, inboxIds[0]!, mailNo(36));
  }
  await using rig = await world.open();
  await rig.index.catchUp();
  assert.ok(await compareEngines(rig, world));
  const bytes = await rig.indexBytes();
  assert.deepEqual([30, 33, 36].map((i) => bytes.includes(`mail${i}`)), [false, false, true]);
  assert.deepEqual(rig.logged, [], "no inbox is begun anew");
});

Deno.test("MailIndex stops growing while the disk has little room, and goes before mail stops", async () => {
  await using world = await makeWorld(10);
  const { kv, dir, orgId, inboxIds } = world;
  const disk = { freeBytes: 2_000 as number | null, refresh: () => Promise.resolve() };
  await using rig = await openSearchRig({
    ...{ kv, dir },
    index: { freeDisk: disk, mailMinFreeDiskBytes: 1_000 },
  });
  await rig.index.catchUp();
  assert.ok(await compareEngines(rig, world));
  disk.freeBytes = 1_999;
  const lost = await rig.deliver(orgId, inboxIds[0]!, mailNo(10));
  const [found] = (await rig.findAll("indexed", orgId, inboxIds, "mail7")).found;
  await rig.remove({ ...lost, inboxId: inboxIds[1]!, id: found!.id });
  await rig.index.catchUp();
  assert.equal((await rig.indexBytes()).includes("mail7"), false, "words still leave it");
  assert.equal(await compareEngines(rig, world), false, "the newest mail is read from the store");
  disk.freeBytes = 999;
  await rig.index.catchUp();
  assert.deepEqual(await Array.fromAsync(Deno.readDir(rig.folder)), []);
  assert.deepEqual(await openFilesIn(rig.folder), [], "a file that is open keeps its room");
  await compareEngines(rig, world);
  disk.freeBytes = 2_000;
  await rig.index.catchUp();
  assert.ok(await compareEngines(rig, world));
  assert.deepEqual(rig.losses, []);
});

/** Files of a folder that this process has open, deleted ones too. */
async function openFilesIn(folder: string): Promise<string[]> {
  if (Deno.build.os !== "linux") return [];
  // By a program: what Deno reads there asks for every permission.
  const { stdout } = await new Deno.Command("ls", { args: ["-l", `/proc/${Deno.pid}/fd`] })
    .output();
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line.includes(folder));
}

Deno.test("MailIndex goes at a start with too little room for mail, and comes back with it", async () => {
  await using world = await makeWorld(10);
  const { kv, dir } = world;
  const disk = { freeBytes: 999, refresh: () => Promise.resolve() };
  await using rig = await openSearchRig({
    ...{ kv, dir },
    index: { freeDisk: disk, mailMinFreeDiskBytes: 1_000 },
  });
  await indexFile(rig);
  for (let i = 0; i < 2; i++) {
    await rig.index.catchUp();
    assert.deepEqual(await Array.fromAsync(Deno.readDir(rig.folder)), []);
  }
  await compareEngines(rig, world);
  disk.freeBytes = 2_000;
  await rig.index.catchUp();
  assert.ok(await compareEngines(rig, world));
  assert.deepEqual(rig.losses, []);
});

Deno.test("MailIndex.close() ends what is under way, however many inboxes it has still to read", async () => {
  await using world = await makeWorld(0);
  const { kv, dir, orgId } = world;
  {
    await using rig = await world.open();
    for (let i = 0; i < 60; i++) await rig.deliver(orgId, await rig.addInbox(orgId), mailNo(i));
  }
  const counted = countReads(kv);
  let looks = 0;
  let closed: Promise<void> | undefined;
  await using rig = await openSearchRig({
    ...{ kv: counted.kv, dir },
    index: {
      freeDisk: {
        freeBytes: null,
        refresh() {
          if (++looks === 3) { // one before all, and one an inbox
            closed = rig.index.close();
            counted.takeCounts();
          }
          return Promise.resolve();
        },
      },
    },
  });
  await rig.index.catchUp();
  await closed!;
  assert.ok((counted.takeCounts()["mail-inbox"] ?? 0) <= 1);
});

smallDiskOrSkip(
  "MailIndex on a full disk answers right, and goes on when there is room",
  4,
  async (disk) => {
    await using world = await makeWorld(0);
    const { kv, dir, orgId, inboxIds, clock } = world;
    const index = { folder: join(disk.path, "mail-search") };
    await using rig = await openSearchRig({ kv, dir, clock, index });
    const deliver = async (from: number) => {
      for (let i = from; i < from + 40; i++) {
        clock.advance(1_000);
        await rig.deliver(orgId, inboxIds[i % 2]!, mailNo(i));
      }
    };
    await deliver(0);
    await rig.index.catchUp();
    assert.ok(await compareEngines(rig, world));
    disk.fill();
    await deliver(40);
    await rig.index.catchUp();
    assert.ok(rig.losses.length > 0, "the disk was not full");
    assert.equal(await compareEngines(rig, world), false);
    disk.empty();
    for (let i = 0; i < 2; i++) await rig.index.catchUp();
    assert.ok(await compareEngines(rig, world));
  },
);
