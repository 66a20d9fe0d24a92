import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { StoreFailed } from "../../../base/storage/rows/call_deadline.ts";
import { TEST_START_MS, type TestClock } from "../../../../tests/support/clock.ts";
import { countReads } from "../../../../tests/support/count_reads.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import { signatureKey } from "../../agents/signature_use.ts";
import { AcceptedSends } from "./accepted_sends.ts";
import { encodeUse, useGroupKey } from "./use_group.ts";

const SECOND = TEST_START_MS / 1000;
const ALICE = 1;
const HASH = "ab".repeat(32);

function use(timestampSeconds = SECOND) {
  return { signature: crypto.getRandomValues(new Uint8Array(64)), timestampSeconds };
}
type Use = ReturnType<typeof use>;

interface Rig {
  kv: Deno.Kv;
  clock: TestClock;
  reads: () => number;
  open(capacity?: number): AcceptedSends;
  /** Writes the row of a group as a commit does. */
  store(attempt: string, ...uses: Use[]): Promise<Deno.KvKey>;
}

async function withRig(
  body: (rig: Rig) => Promise<void>,
  { exclusive = true } = {},
): Promise<void> {
  using kv = await openMemoryKv();
  const counted = countReads(kv);
  const { store, records, clock, close } = await openTestStorage(counted.kv, { exclusive });
  await body({
    kv,
    clock,
    reads: () => counted.takeCounts()["sig"] ?? 0,
    open: (capacity) =>
      new AcceptedSends({ store, records, signatureWindowSeconds: 300, capacity }),
    async store(attempt, ...uses) {
      const key = useGroupKey(uses[0]!.timestampSeconds, { attempt, nowMs: TEST_START_MS });
      const entries = uses.map((one, i) =>
        encodeUse({ ...one, agentId: ALICE, id: 100 + i, contentHash: HASH })
      );
      await kv.set(key, new Uint8Array(entries.flatMap((entry) => [...entry])));
      return key;
    },
  });
  await close();
}

async function idOf(accepted: AcceptedSends, one: Use): Promise<number | undefined> {
  await accepted.recall(one);
  return (await accepted.lookUp(ALICE, one)).answer?.id;
}

Deno.test("AcceptedSends knows what groups of former processes hold, each ten seconds read once", async () => {
  await withRig(async ({ open, store, reads }) => {
    const uses = [0, 1, 9, 10, 299, -299].map((offset) => use(SECOND + offset));
    for (const [i, one] of uses.entries()) await store(`a${i}`, use(one.timestampSeconds), one);
    const accepted = open();
    for (const one of uses) assert.equal(await idOf(accepted, one), 101);
    reads();
    for (const one of uses) {
      assert.equal(accepted.recall(one), undefined);
      assert.equal(await idOf(accepted, use(one.timestampSeconds)), undefined);
    }
    assert.equal(reads(), 0);
  });
});

Deno.test("AcceptedSends knows rows of former layouts on an exclusive store, but those of other changes", async () => {
  await withRig(async ({ kv, open }) => {
    const [sent, changed] = [use(), use()];
    const answer = { v: 1, attempt: "a", id: 7, contentHash: HASH, createdAtMs: TEST_START_MS };
    await kv.set(signatureKey(ALICE, sent), { ...answer, use: "send" });
    await kv.set(signatureKey(ALICE, changed), { v: 1, attempt: "b", use: "profile" });
    const accepted = open();
    assert.equal(await idOf(accepted, sent), 7);
    assert.equal(await idOf(accepted, changed), undefined);
    assert.equal(accepted.mayHave(changed), false);
  });
});

Deno.test("AcceptedSends on a shared store reads nothing of what memory does not have, and reads groups", async () => {
  await withRig(async ({ open, reads, store }) => {
    const [grouped, fresh] = [use(), use()];
    await store("a", grouped);
    const accepted = open();
    assert.equal(await idOf(accepted, grouped), 100);
    await accepted.recall(fresh);
    reads();
    assert.equal(await idOf(accepted, fresh), undefined);
    assert.equal(reads(), 0);
  }, { exclusive: false });
});

Deno.test("AcceptedSends keeps what is stored while it reads", async () => {
  await withRig(async ({ kv, open, store }) => {
    const meanwhile = use();
    const accepted = open();
    const recalled = accepted.recall(meanwhile);
    const key = await store("a", meanwhile);
    await kv.delete(key); // whatever the read has seen
    accepted.add(meanwhile, key);
    await recalled;
    assert.ok(accepted.mayHave(meanwhile));
  });
});

Deno.test("AcceptedSends asks again after a read that failed", async () => {
  await withRig(async ({ kv, store }) => {
    const one = use();
    await store("a", one);
    let fails = false;
    const broken = new Proxy(kv, {
      get(target, name) {
        if (name === "list" && fails) throw new TypeError("disk I/O error");
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const storage = await openTestStorage(broken);
    fails = true;
    const accepted = new AcceptedSends({ ...storage, signatureWindowSeconds: 300 });
    const recall = async () => await accepted.recall(one);
    for (let i = 0; i < 2; i++) await assert.rejects(recall, StoreFailed);
    fails = false;
    assert.equal(await idOf(accepted, one), 100);
    await storage.close();
  });
});

Deno.test("AcceptedSends that forgets for want of room reads again what it is asked for", async () => {
  await withRig(async ({ open, store }) => {
    const uses = Array.from({ length: 30 }, (_, i) => use(SECOND + 10 * i));
    for (const [i, one] of uses.entries()) await store(`a${i}`, one, use(one.timestampSeconds));
    const accepted = open(10);
    for (let round = 0; round < 2; round++) {
      for (const one of uses) assert.equal(await idOf(accepted, one), 100);
    }
  });
});

Deno.test("AcceptedSends tells that a look-up is outdated by what memory forgot or learnt since", async () => {
  await withRig(async ({ clock, open, store }) => {
    const one = use();
    const accepted = open();
    await accepted.recall(one);
    const found = await accepted.lookUp(ALICE, one);
    assert.equal(accepted.isOutdated(one, found), false);
    const key = await store("a", one);
    accepted.add(one, key);
    assert.ok(accepted.isOutdated(one, found));
    const now = await accepted.lookUp(ALICE, one);
    assert.equal(now.answer?.id, 100);
    assert.equal(accepted.isOutdated(one, now), false);
    clock.leap(3_600_000);
    accepted.forgetExpired();
    assert.equal(accepted.isOutdated(one, now), false, "a leap forgets nothing");
    clock.advance(3_600_000);
    accepted.forgetExpired();
    assert.ok(accepted.isOutdated(one, now));
    assert.equal(await idOf(accepted, one), 100);
  });
});
