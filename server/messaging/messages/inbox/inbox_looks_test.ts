import assert from "node:assert/strict";
import { RelayError } from "../../../base/errors.ts";
import { AnswerBudget } from "../../../base/http/answers/answer_budget.ts";
import { InboxLooks, type InboxLooksOptions, previewOf } from "./inbox_looks.ts";
import { PageBudget } from "./page_budget.ts";

Deno.test("previewOf() gives text as text, anything else as JSON, in one line", () => {
  assert.equal(previewOf('"a\\n\\t b"', false), "a b");
  assert.equal(previewOf('{"a":[1,2]}', false), '{"a":[1,2]}');
  assert.equal(previewOf("null", false), "null");
  assert.equal(previewOf('{"text":"a \\"b\\""}', false), 'a "b"');
  assert.equal(previewOf('{"subject":"S","text":"a"}', false), "S: a");
  assert.equal(previewOf('{"text":"a","to":1}', false), '{"text":"a","to":1}');
  assert.equal(previewOf('{"text":1}', false), '{"text":1}');
  assert.equal(previewOf(`"${"x".repeat(500)}"`, false).length, 200);
});

Deno.test("previewOf() reads a string that was cut anywhere", () => {
  const text = 'say \\ "hi"\n\u0001 \u00e9 \u{1f600} end \\\\';
  const bytes = new TextEncoder().encode(JSON.stringify(text));
  const inside = (json: string) => [json, `{"text":${json}`];
  let read = 0;
  for (let end = 1; end < bytes.length; end++) {
    const cut = new TextDecoder().decode(bytes.subarray(0, end));
    const whole = text.replaceAll(/\s+/g, " ").trim();
    for (const json of inside(cut)) {
      const shown = previewOf(json, true);
      assert.ok(whole.startsWith(shown), `${end}: ${shown}`);
      read++;
    }
  }
  assert.equal(read, 2 * (bytes.length - 1));
});

Deno.test("InboxLooks reads nothing while an agent has as many pages in hand as it may", async () => {
  const pages = new PageBudget({ answers: new AnswerBudget(), perAgent: 1 });
  const reading = () => {
    throw new Error("it was read");
  };
  const looks = new InboxLooks({
    store: { now: () => 0, exclusive: true },
    records: { read: reading },
    messages: { newestRows: reading, messagesOf: reading },
    pages,
  } as unknown as InboxLooksOptions);
  const held = await pages.begin(7);
  const isRefused = (error: unknown) => error instanceof RelayError && error.code === "unavailable";
  await assert.rejects(looks.look(7, { beforeId: 1, limit: 1 }), isRefused);
  await assert.rejects(looks.file(7, 1), isRefused);
  held.end();
  for (let i = 0; i < 3; i++) {
    await assert.rejects(looks.file(7, 1), /it was read/, "a look that fails gives its page back");
  }
});
