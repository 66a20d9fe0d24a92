import assert from "node:assert/strict";
import { previewOf } from "./inbox_looks.ts";

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
