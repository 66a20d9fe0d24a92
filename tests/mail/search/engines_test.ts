/** The index finds what the scan finds: the same messages, order, pages and highlights. */
import assert from "node:assert/strict";
import fc from "../../support/seeded_fast_check.ts";
import { createTestClock } from "../../support/clock.ts";
import { isLong } from "../../support/long_test.ts";
import { newId, openSearchRig, type TestMail } from "../../support/search_rig.ts";

const MINUTE_MS = 60_000;
const WORDS = [
  ..."red Rote ROTE crème CREME cafe\u0301 straße STRASSE 2026 482913 kg ㎏ ﬁne fine Σοφός σοφοσ"
    .split(" "),
  ..."привет ЁЛКА елка שלום שָׁלוֹם مرحبا नमस्ते 日本語 日本 本語 東京 とうきょう が ガ ｶﾞ コーヒー ｺｰﾋｰ"
    .split(" "),
  ..."한국어 한국 สวัสดี ສະບາຍດີ សួស្តី foo_bar a-b ann@else.test x 𠀀𠀁 🎉party ① ½ it's AND OR NOT"
    .split(" "),
  ...[
    "\u0000",
    '"',
    "\ue000",
    "\ue001",
    "\ue001open",
    "\ue001in",
    "*",
    "^",
    "(",
    ")",
    ":",
    "\ufeff",
  ],
];
const word = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 6 }) },
);
const gap = fc.constantFrom(" ", " ", " ", "", ", ", "\n", "。", "\u0000", "\ue000");
const saying = (most: number) =>
  fc.array(fc.tuple(word, gap), { maxLength: most, size: "max" }).map((parts) =>
    parts.flat().join("")
  );
const mails: fc.Arbitrary<TestMail> = fc.record({
  subject: fc.option(saying(4)),
  text: fc.option(saying(20)),
  shown: fc.option(saying(8), { freq: 6 }),
  names: fc.array(saying(2), { maxLength: 3 }),
  files: fc.array(saying(2), { maxLength: 2 }),
  direction: fc.constantFrom("inbound", "inbound", "outbound"),
});
const queries = fc.oneof(
  { weight: 5, arbitrary: word },
  { weight: 2, arbitrary: fc.tuple(word, gap, word).map((parts) => `"${parts.join("")}"`) },
  { weight: 1, arbitrary: fc.array(word, { minLength: 2, maxLength: 3 }).map((w) => w.join(" ")) },
  { weight: 1, arbitrary: saying(3) },
);
const minutes = fc.option(fc.nat(130), { nil: undefined, freq: 1 });
const searches = fc.record({
  q: queries,
  inboxes: fc.constantFrom<number[]>([0], [1], [0, 1, 2], [0, 1, 2]),
  direction: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    "inbound" as const,
    "outbound" as const,
  ),
  after: minutes,
  before: minutes,
  limit: fc.constantFrom(1, 3, 50),
});
const ROUNDS = isLong ? 4 : 3;
const SEARCHES = isLong ? 500 : 60;

Deno.test("MailIndex.rows() gives a search what the scan gives it, whatever mail says and is asked", async () => {
  let total = 0;
  for (let round = 0; round < ROUNDS; round++) {
    using kv = await Deno.openKv(":memory:");
    const dir = await Deno.makeTempDir();
    const clock = createTestClock();
    const startMs = clock.now();
    {
      await using rig = await openSearchRig({ kv, dir, clock });
      const orgId = newId("org");
      const other = newId("org");
      const inboxIds = [
        await rig.addInbox(orgId),
        await rig.addInbox(orgId),
        await rig.addInbox(orgId),
      ];
      const theirs = await rig.addInbox(other);
      const [some] = fc.sample(fc.array(mails, { minLength: 60, maxLength: 80, size: "max" }), {
        numRuns: 1,
        seed: fc.readConfigureGlobal().seed! + round,
      });
      const rows = [];
      for (const [i, mail] of some!.entries()) {
        // The clock goes back now and then, and ids do not.
        clock.set(startMs + (i % 17 === 16 ? 0 : i * MINUTE_MS));
        rows.push(await rig.deliver(orgId, inboxIds[i % 3]!, mail));
        if (i % 5 === 0) await rig.deliver(other, theirs, mail);
        if (i === 40) await rig.index.catchUp();
        if (i === 50) { for (const at of [3, 17, 44]) await rig.remove(rows[at]!); }
      }
      // Of the first inbox the index is behind in some searches.
      const behind = fc.sample(searches, { numRuns: SEARCHES, seed: round });
      let isBehind = true;
      for (const [i, { q, inboxes, after, before, ...asked }] of behind.entries()) {
        if (i === SEARCHES / 2) {
          await rig.index.catchUp();
          isBehind = false;
        }
        const given = {
          ...asked,
          afterMs: after === undefined ? undefined : startMs + after * MINUTE_MS,
          beforeMs: before === undefined ? undefined : startMs + before * MINUTE_MS,
        };
        const of = inboxes.map((at) => inboxIds[at]!);
        const lists = rig.lists();
        const byIndex = await rig.findAll("indexed", orgId, of, q, given);
        if (!isBehind) assert.equal(rig.lists(), lists, "the index answers alone");
        const byScan = await rig.findAll("scanned", orgId, of, q, given);
        assert.deepEqual(byIndex, byScan, JSON.stringify({ round, q, inboxes, given, isBehind }));
        total += byScan.found.length;
      }
      assert.deepEqual([rig.losses, rig.logged], [[], []]);
    }
    await Deno.remove(dir, { recursive: true });
  }
  assert.ok(total > 2 * SEARCHES * ROUNDS, `the searches found ${total}`);
});
