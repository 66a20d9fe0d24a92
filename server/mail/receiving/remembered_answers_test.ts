import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { RememberedAnswers } from "./remembered_answers.ts";

const KEPT_MS = 600_000;
const answer = (text: string) => ({ status: 200, body: new TextEncoder().encode(text) });
const refusal = (text: string) => ({ ...answer(text), status: 404 });

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";
  Deno.test(`RememberedAnswers gives the first of two answers under one webhook-id for ten minutes, on ${store}`, async () => {
    const kv = await openMemoryKv();
    const clock = createTestClock();
    const storage = await openTestStorage(kv, { exclusive, clock });
    const answers = new RememberedAnswers(storage);
    const key = answers.keyOf("msg_1");
    const bodies = async () =>
      (await Array.fromAsync(kv.list({ prefix: ["mail-gateway"] })))
        .filter(({ key }) => key[2] === "body").length;
    try {
      assert.equal(await answers.find(key), null);
      const given = await Promise.all([
        answers.keep(key, answer("one")),
        answers.keep(key, answer("two")),
      ]);
      assert.deepEqual(given, [answer("one"), answer("one")]);
      assert.equal(await answers.find(answers.keyOf("msg_2")), null);
      clock.advance(KEPT_MS - 1);
      assert.deepEqual(await answers.find(key), answer("one"));
      clock.advance(1);
      assert.equal(await answers.find(key), null);
      assert.deepEqual(await answers.keep(key, answer("three")), answer("three"));
      assert.deepEqual(await answers.find(key), answer("three"));
      assert.equal(await bodies(), 1, "the former one went with its record");
    } finally {
      await storage.close();
      kv.close();
    }
  });
}

Deno.test("RememberedAnswers keeps the first of two refusals in memory alone, by the monotonic clock", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const storage = await openTestStorage(kv, { exclusive: true, clock });
  const answers = new RememberedAnswers(storage);
  const key = answers.keyOf("msg_1");
  try {
    assert.deepEqual(await answers.keep(key, refusal("one")), refusal("one"));
    assert.deepEqual(await answers.keep(key, refusal("two")), refusal("one"));
    clock.leap(-9 * 3_600_000);
    clock.advance(KEPT_MS - 1);
    assert.deepEqual(await answers.find(key), refusal("one"));
    clock.advance(1);
    assert.equal(await answers.find(key), null);
    assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["mail-gateway"] })), []);
  } finally {
    await storage.close();
    kv.close();
  }
});
