import assert from "node:assert/strict";
import { join } from "node:path";
import { leastMailId } from "../records/mail_id.ts";
import { type AskedWords, type InboxGuard, IndexDamaged, WordIndex } from "./word_index.ts";

const START_MS = Date.UTC(2026, 0, 1);
const ORG = `org_${"0".repeat(26)}`;
const inboxNo = (n: number) => `ibx_${`${n}`.padStart(26, "0")}`;
const idAt = (minute: number) => leastMailId("msg", START_MS + minute * 60_000);

interface World extends AsyncDisposable {
  path: string;
  index: WordIndex;
  /** Gives the index messages of an inbox, one a minute. */
  fill(inbox: string, minutes: readonly number[], words?: (minute: number) => string): InboxGuard;
  find(inboxes: readonly InboxGuard[], q: string, asked?: Partial<AskedWords>): string[];
  bytes(): Promise<string>;
}

async function makeWorld(): Promise<World> {
  const dir = await Deno.makeTempDir();
  const path = join(dir, "index.db");
  const index = new WordIndex(path, { isNew: true });
  const none = { below: null, from: null, created: null, limit: 50 };
  return {
    ...{ path, index },
    fill(inbox, minutes, words = (minute) => `word of${minute}`) {
      const headId = idAt(minutes.at(-1)!);
      const guard = { id: inbox, headId, messages: minutes.length, changes: minutes.length };
      index.begin(ORG, guard);
      index.add(
        inbox,
        minutes.map((minute) => ({
          id: idAt(minute),
          createdAtMs: START_MS + minute * 60_000,
          direction: minute % 2 === 0 ? "inbound" : "outbound",
          words: words(minute),
        })),
      );
      return guard;
    },
    find(inboxes, q, asked = {}) {
      const given = { ...none, orgId: ORG, inboxes, terms: [q.split(" ")], ...asked };
      return index.find(given).found.map(({ id }) => id);
    },
    async bytes() {
      const texts = [];
      for await (const { name } of Deno.readDir(dir)) {
        texts.push(new TextDecoder("latin1").decode(await Deno.readFile(join(dir, name))));
      }
      return texts.join("\n");
    },
    async [Symbol.asyncDispose]() {
      index[Symbol.dispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

const minutes = (count: number, step = 1, first = 0) =>
  Array.from({ length: count }, (_, i) => first + i * step);

Deno.test("WordIndex.find() gives the messages of many inboxes as one list, the newest first", async () => {
  await using world = await makeWorld();
  const guards = minutes(20).map((n) => world.fill(inboxNo(n), minutes(30, 20, n)));
  world.fill(inboxNo(99), minutes(30, 20, 3)); // not asked for
  const all = minutes(600).reverse().map(idAt);
  for (const some of [guards, guards.slice(0, 2), guards.slice(4, 5)]) {
    const of = new Set(some.map(({ id }) => Number(id.slice(4))));
    const own = all.filter((_, i) => of.has((599 - i) % 20));
    assert.deepEqual(world.find(some, "word", { limit: 1_000 }), own);
    assert.deepEqual(world.find(some, "word", { limit: 7 }), own.slice(0, 7));
    const [below, from] = [idAt(400), idAt(100)];
    const between = own.filter((id) => id < below && id >= from);
    assert.deepEqual(world.find(some, "word", { below, from, limit: 1_000 }), between);
    const outbound = own.filter((id) => all.indexOf(id) % 2 === 0);
    assert.deepEqual(world.find(some, "word", { direction: "outbound", limit: 1_000 }), outbound);
  }
  assert.deepEqual(world.find(guards, "of77"), [idAt(77)]);
  assert.deepEqual(world.find(guards, "of9999"), []);
});

Deno.test("WordIndex.find() says which inboxes it does not have as the store does", async () => {
  await using world = await makeWorld();
  const [one, two, three] = [1, 2, 3].map((n) => world.fill(inboxNo(n), minutes(5, 3, n)));
  const ask = (inboxes: InboxGuard[]) =>
    world.index.find({
      ...{
        orgId: ORG,
        inboxes,
        terms: [["word"]],
        below: null,
        from: null,
        created: null,
        limit: 99,
      },
    });
  const cases: [guard: InboxGuard, found: number, behind: string | null | undefined][] = [
    [one!, 5, undefined],
    [{ ...one!, changes: 99 }, 5, undefined],
    [{ ...one!, messages: 4 }, 5, one!.headId],
    [{ ...one!, headId: idAt(99), messages: 6 }, 5, one!.headId],
    [{ ...one!, changes: 4 }, 0, null],
    [{ ...one!, headId: idAt(2) }, 0, null],
    [{ ...one!, id: inboxNo(9) }, 0, null],
    [{ id: inboxNo(9), headId: null, messages: 0, changes: 0 }, 0, undefined],
  ];
  for (const [guard, found, behind] of cases) {
    const answer = ask([guard, two!, three!]);
    assert.equal(answer.found.length, found + 10);
    const told = behind === undefined ? [] : [{ inboxId: guard.id, knownTo: behind }];
    assert.deepEqual(answer.behind, told);
  }
});

Deno.test("WordIndex.begin() forgets what is of another history, and numbers the inbox anew", async () => {
  await using world = await makeWorld();
  const guard = world.fill(inboxNo(1), minutes(5), (minute) => `former former${minute}`);
  const restored = { ...guard, changes: 2, messages: 0, headId: idAt(1) };
  assert.deepEqual(world.index.begin(ORG, restored), { knownTo: null, isAnew: true });
  assert.deepEqual(world.find([restored], "former"), []);
  while (world.index.erase());
  assert.equal((await world.bytes()).includes("former"), false);
});

Deno.test("WordIndex.remove(), retain() and drop() leave no word in the file", async () => {
  await using world = await makeWorld();
  const secret = (minute: number) => `secret${minute}x and secretly`;
  const small = world.fill(inboxNo(1), minutes(40), secret);
  world.fill(inboxNo(2), minutes(1_100, 2), (minute) => `hidden${minute}x and hiddenly`);
  const other = world.fill(inboxNo(3), minutes(10), () => "kept");
  const has = async (text: string) => (await world.bytes()).includes(text);
  assert.deepEqual([await has("secret7x"), await has("hidden8x")], [true, true]);

  world.index.remove(small.id, [idAt(7), idAt(999)]);
  assert.deepEqual([await has("secret7x"), await has("secret8x")], [false, true]);
  const left = minutes(40).filter((minute) => minute !== 7 && minute !== 8).map(idAt);
  assert.ok(world.index.retain(small.id, null, small.headId!, left));
  assert.deepEqual([await has("secret8x"), await has("secret9x")], [false, true]);
  assert.deepEqual(world.index.settle(small), { messages: 38 });
  assert.equal(world.index.retain(small.id, null, small.headId!, [...left, idAt(8)]), false);

  world.index.drop(small.id);
  while (world.index.erase());
  assert.deepEqual([await has("secret"), await has("hidden8x")], [false, true]);
  world.index.drop(inboxNo(2));
  while (world.index.erase());
  assert.equal(await has("hidden"), false);
  world.index.check();
  assert.equal(world.find([other], "kept").length, 10);
});

Deno.test("WordIndex.check() refuses what does not fit together", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  const changes = [
    "PRAGMA user_version = 99",
    "UPDATE inboxes SET head = 'msg_1'",
    "UPDATE inboxes SET messages = 4",
    "DELETE FROM words WHERE rowid = (SELECT max(rowid) FROM words)",
    "DROP TABLE inboxes",
  ];
  for (const sql of changes) {
    await using world = await makeWorld();
    world.fill(inboxNo(1), minutes(5));
    world.index.check();
    const db = new DatabaseSync(world.path);
    db.exec(sql);
    db.close();
    using again = new WordIndex(world.path);
    assert.throws(() => again.check(), (error: Error) => {
      return error instanceof IndexDamaged || "code" in error;
    }, sql);
  }
});
