import assert from "node:assert/strict";
import { firstMessageId, messageIds } from "./message_ids.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";

Deno.test("firstMessageId() is the first id of the first header, without brackets", () => {
  assert.equal(firstMessageId(["Your mail of today <a@b> <c@d>", "<e@f>"]), "a@b");
  assert.equal(firstMessageId([" a@b "]), "a@b");
  assert.equal(firstMessageId(["< a@b >"]), "a@b");
});

Deno.test("firstMessageId() is null for what is not of the form that is kept", () => {
  const none = ["", "<>", "<a b@c>", "<\u00e4@b>", `<${"a".repeat(251)}>`, "no id", "<a@b", "a>b"];
  for (const value of none) assert.equal(firstMessageId([value]), null, value);
  assert.equal(firstMessageId([]), null);
  assert.equal(firstMessageId([`<${"a".repeat(250)}>`])?.length, 250);
});

Deno.test("messageIds() gives each id once, in order, and of too many the newest", () => {
  const warnings = new Set<ParseWarning>();
  assert.deepEqual(messageIds(["<a@b> x <c d> <e@f>", "<a@b><g@h>"], warnings), [
    "a@b",
    "e@f",
    "g@h",
  ]);
  assert.deepEqual([...warnings], []);
  const many = messageIds([Array.from({ length: 130 }, (_, i) => `<${i}@b>`).join(" ")], warnings);
  assert.deepEqual([many.length, many[0], many.at(-1)], [100, "30@b", "129@b"]);
  assert.deepEqual([...warnings], ["references_cut"]);
});
