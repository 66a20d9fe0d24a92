/**
 * What reading HTML costs, whatever it holds: counted steps in proportion to its length, no work beside
 * the steps, and where there are no workers no turn of the main loop that anybody could feel.
 */
import assert from "node:assert/strict";
import { type HtmlText, htmlToText } from "../../server/mail/reading/html/html_text.ts";
import { MailWorker } from "../../server/mail/worker/mail_worker.ts";
import { HOSTILE_HTML } from "../support/hostile_html.ts";
import { htmlPieces } from "../support/html_grammar.ts";
import { isLong } from "../support/long_test.ts";
import { leastMainLoopGap } from "../support/main_loop_gap.ts";
import { mailToCompose } from "../support/outgoing_mail.ts";
import fc from "../support/seeded_fast_check.ts";
import { threadMs } from "../support/thread_ms.ts";

/** Steps of a document are at most so many a byte, and so many more. */
const STEPS_PER_BYTE = 14;
const STEPS_BESIDES = 260_000;
/** For a document twice as long, and its beginning, which is judged once. */
const GROWTH = 2.2;
const STEPS_ONCE = 20_000;
/** Some 10 times what a step takes: work that is not counted takes more at once. */
const MOST_MS_PER_STEP = 2 / 1_000;
const SOME_MS = 60;
/** Until one is short enough: what disturbs a run only makes it longer. */
const RUNS = 5;
/** What holds the main loop longer can be felt by every other request. */
const MAX_GAP_MS = 50;
const ATTACKED_BYTES = 58_600;

/** Documents that are tried. */
const DOCUMENTS = isLong ? { read: 400, cut: 100, held: 60 } : { read: 100, cut: 40, held: 15 };

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

function assertBounded(html: string, { steps }: HtmlText): void {
  const most = STEPS_PER_BYTE * bytesOf(html) + STEPS_BESIDES;
  assert.ok(steps <= most, `${steps} steps for ${bytesOf(html)} bytes`);
}

/** Again and again what is made of pieces, until it is so long. */
function documentOf(pieces: readonly string[], bytes: number): string {
  const piece = pieces.join("");
  return piece.repeat(Math.max(1, Math.ceil(bytes / Math.max(1, bytesOf(piece)))));
}

Deno.test("htmlToText() takes steps in proportion to the bytes of any HTML", () => {
  let documents = 0;
  fc.assert(
    fc.property(htmlPieces, fc.constantFrom(100, 2_000, 20_000), (pieces, bytes) => {
      const [short, long] = [documentOf(pieces, bytes), documentOf(pieces, bytes).repeat(2)];
      const [few, many] = [htmlToText(short), htmlToText(long)];
      assertBounded(short, few);
      assertBounded(long, many);
      assert.ok(many.steps <= GROWTH * few.steps + STEPS_ONCE, `${few.steps}, ${many.steps} steps`);
      documents++;
    }),
    { numRuns: DOCUMENTS.read },
  );
  assert.equal(documents, DOCUMENTS.read);
});

Deno.test("htmlToText() reads the same wherever HTML is cut into the pieces that are read at once", () => {
  let characters = 0;
  fc.assert(
    fc.property(htmlPieces, fc.nat(5_000), (pieces, shift) => {
      const html = documentOf(pieces, 12_000);
      const { text, links, hiddenRemoved } = htmlToText(html);
      const shifted = htmlToText(`<!--${"x".repeat(shift)}-->${html}`);
      assert.deepEqual([shifted.text, shifted.links, shifted.hiddenRemoved], [
        text,
        links,
        hiddenRemoved,
      ]);
      characters += text.length;
    }),
    { numRuns: DOCUMENTS.cut },
  );
  assert.ok(characters > 200 * DOCUMENTS.cut);
});

for (const [name, make] of Object.entries(HOSTILE_HTML)) {
  Deno.test(`htmlToText() takes steps in proportion to the bytes of ${name}`, () => {
    const [short, long] = [make(20_000), make(40_000)];
    const [few, many] = [htmlToText(short), htmlToText(long)];
    assertBounded(short, few);
    assertBounded(long, many);
    assert.ok(many.steps <= GROWTH * few.steps + STEPS_ONCE, `${few.steps}, ${many.steps} steps`);
    const html = make(ATTACKED_BYTES);
    let [tookMs, mostMs] = [Infinity, 0];
    for (let run = 0; run < RUNS && tookMs >= mostMs; run++) {
      const beganMs = threadMs();
      const read = htmlToText(html);
      tookMs = Math.min(tookMs, threadMs() - beganMs);
      mostMs = SOME_MS + MOST_MS_PER_STEP * read.steps;
      assertBounded(html, read);
    }
    assert.ok(tookMs < mostMs, `${tookMs} ms, bound ${mostMs} ms`);
  });
}

/** One for runtimes without workers: on the main thread. */
async function withReader(work: (reader: MailWorker) => Promise<void>): Promise<void> {
  const reader = new MailWorker({ start: null, onLoss: (failure) => assert.fail(String(failure)) });
  try {
    await work(reader);
  } finally {
    reader.close();
  }
}

/** Everything that is done with somebody's HTML: it is read, composed, and shown. */
async function useEverywhere(reader: MailWorker, html: string): Promise<void> {
  const raw = new TextEncoder().encode(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`);
  const limits = { parts: 200, depth: 50 };
  await reader.read(raw, { envelopeFrom: "", limits }, "org");
  await reader.compose(mailToCompose({ text: null, html }), "org");
  const section = new TextEncoder().encode(JSON.stringify({ text: null, html, headers: [] }));
  await reader.preview(section, "org");
}

Deno.test("the main loop is not held by hostile HTML where there are no workers", async (t) => {
  await withReader(async (reader) => {
    await useEverywhere(reader, "<style>p{color:red}</style><p class=a>warm");
    for (const [name, make] of Object.entries(HOSTILE_HTML)) {
      await t.step(name, async () => {
        const gapMs = await leastMainLoopGap(
          MAX_GAP_MS,
          () => useEverywhere(reader, make(ATTACKED_BYTES)),
        );
        assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
      });
    }
  });
});

Deno.test("the main loop is not held by any HTML where there are no workers", async () => {
  await withReader(async (reader) => {
    await useEverywhere(reader, "<style>p{color:red}</style><p class=a>warm");
    let documents = 0;
    await fc.assert(
      fc.asyncProperty(htmlPieces, async (pieces) => {
        const html = documentOf(pieces, ATTACKED_BYTES).slice(0, 2 * ATTACKED_BYTES);
        const gapMs = await leastMainLoopGap(MAX_GAP_MS, () => useEverywhere(reader, html));
        assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
        documents++;
      }),
      { numRuns: DOCUMENTS.held },
    );
    assert.equal(documents, DOCUMENTS.held);
  });
});
