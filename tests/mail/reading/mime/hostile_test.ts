import assert from "node:assert/strict";
import { MailWorker, startMailWorker } from "../../../../server/mail/worker/mail_worker.ts";
import type { ReadMailResult } from "../../../../server/mail/reading/read_mail.ts";
import { mainLoopGap } from "../../../support/main_loop_gap.ts";
import { readTexts } from "../../../support/read_texts.ts";
import { HOSTILE_MAILS } from "./hostile_mails.ts";

const context = { envelopeFrom: "a@a.example", limits: { parts: 200, depth: 50 } };
/** What holds the main loop longer can be felt by every other request. */
const MAX_GAP_MS = 100;
/** The machine may be busy, and a heap that other tests filled be collected: not in every try. */
const TRIES = 4;

/** What a mail says, and the longest that the main loop was held meanwhile. */
async function measure(worker: MailWorker, raw: Uint8Array) {
  const { gapMs, result: mail } = await mainLoopGap(() => worker.read(raw, context, "org"));
  return { mail, gapMs };
}

function assertBounded({ facts, ...encoded }: ReadMailResult, name: string): void {
  const texts = readTexts(encoded);
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
  assert.ok(bytes(facts) <= 40 * 1024, `${name}: ${bytes(facts)} bytes of facts`);
  const headers = Object.entries(texts.headers).flatMap(([name, values]) =>
    values.map((value) => name.length + new TextEncoder().encode(value).length)
  );
  assert.ok(headers.reduce((sum, size) => sum + size, 0) <= 64 * 1024, name);
  assert.ok((texts.text?.length ?? 0) <= 4 * 1024 * 1024, name);
}

Deno.test("MailWorker.read() reads hostile mail in its time and never holds the main loop", async (t) => {
  const worker = new MailWorker({
    start: startMailWorker,
    onLoss: (failure) => assert.fail(String(failure)),
  });
  for (const [name, make] of Object.entries(HOSTILE_MAILS)) {
    await t.step(name, async () => {
      const raw = make();
      let { mail, gapMs } = await measure(worker, raw);
      const isGood = () => gapMs <= MAX_GAP_MS && !mail.facts.parseWarnings.includes("timed_out");
      for (let tries = 1; tries < TRIES && !isGood(); tries++) {
        ({ mail, gapMs } = await measure(worker, raw));
      }
      assert.ok(gapMs <= MAX_GAP_MS, `the main loop was held for ${Math.round(gapMs)} ms`);
      assert.equal(mail.facts.parseWarnings.includes("timed_out"), false);
      assert.equal(mail.facts.parseWarnings.includes("parser_failed"), false);
      assertBounded(mail, name);
    });
  }
  // The next mail is read as if nothing had been.
  const next = await worker.read(new TextEncoder().encode("Subject: s\n\nHi"), context, "org");
  assert.deepEqual([next.facts.subject, readTexts(next).text, next.facts.parseWarnings], [
    "s",
    "Hi",
    [],
  ]);
  worker.close();
});
