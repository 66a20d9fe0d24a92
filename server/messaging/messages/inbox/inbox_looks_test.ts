import assert from "node:assert/strict";
import { previewOf } from "./inbox_looks.ts";

Deno.test("previewOf() gives text as text, anything else as JSON, in one line", () => {
  assert.equal(previewOf('"a\\n\\t b"', false), "a b");
  assert.equal(previewOf('{"a":[1,2]}', false), '{"a":[1,2]}');
  assert.equal(previewOf("null", false), "null");
  assert.equal(previewOf(`"${"x".repeat(500)}"`, false).length, 200);
});

Deno.test("previewOf() reads a string that was cut anywhere", () => {
  const text = 'say \\ "hi"\n\u0001 \u00e9 \u{1f600} end \\\\';
  const bytes = new TextEncoder().encode(JSON.stringify(text));
  let read = 0;
  for (let end = 1; end < bytes.length; end++) {
    const cut = new TextDecoder().decode(bytes.subarray(0, end));
    const shown = previewOf(cut, true);
    const whole = text.replaceAll(/\s+/g, " ").trim();
    assert.ok(whole.startsWith(shown), `${end}: ${shown}`);
    read++;
  }
  assert.equal(read, bytes.length - 1);
});
