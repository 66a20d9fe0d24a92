import assert from "node:assert/strict";
import { answerAutoSubmitted, answerReferences, prefixedSubject } from "./answer_headers.ts";

Deno.test("prefixedSubject() puts a prefix before what has none", () => {
  const cases: [string | null, string, string][] = [
    ["Hello", "Re: Hello", "Fwd: Hello"],
    ["Re: Hello", "Re: Hello", "Fwd: Re: Hello"],
    ["RE:Hello", "RE:Hello", "Fwd: RE:Hello"],
    ["fwd: Hello", "Re: fwd: Hello", "fwd: Hello"],
    ["Regarding", "Re: Regarding", "Fwd: Regarding"],
    [null, "Re:", "Fwd:"],
    [" a\r\n\tb\u2028c ", "Re: a b c", "Fwd: a b c"],
  ];
  assert.equal(cases.length, 7);
  for (const [subject, re, fwd] of cases) {
    assert.equal(prefixedSubject("Re:", subject), re);
    assert.equal(prefixedSubject("Fwd:", subject), fwd);
  }
});

Deno.test("prefixedSubject() stays within 998 characters", () => {
  const subject = prefixedSubject("Re:", "😀".repeat(998));
  assert.equal([...subject].length, 998);
  assert(subject.isWellFormed());
});

const message = { rfcMessageId: "c@x", inReplyTo: "b@x", references: ["a@x", "b@x"] };

Deno.test("answerReferences() adds the message to what it refers to", () => {
  assert.deepEqual(answerReferences(message), {
    inReplyTo: "c@x",
    references: ["a@x", "b@x", "c@x"],
  });
  assert.deepEqual(answerReferences({ ...message, references: [] }).references, ["b@x", "c@x"]);
  assert.deepEqual(answerReferences({ ...message, references: [], inReplyTo: null }).references, [
    "c@x",
  ]);
  assert.deepEqual(answerReferences({ ...message, rfcMessageId: null }), {
    inReplyTo: null,
    references: ["a@x", "b@x"],
  });
});

Deno.test("answerReferences() keeps the first and the last ones, 50 in all", () => {
  const references = Array.from({ length: 80 }, (_, n) => `${n}@x`);
  const { references: kept } = answerReferences({ ...message, references });
  assert.equal(kept.length, 50);
  assert.deepEqual([kept[0], kept[1], kept[48], kept[49]], ["0@x", "32@x", "79@x", "c@x"]);
});

Deno.test("answerReferences() leaves out what no field of ours can hold", () => {
  const references = ["a b@x", "a>\r\nBcc: b", "", "ü@x", "x".repeat(251), "ok@x", "ok@x"];
  assert.deepEqual(answerReferences({ rfcMessageId: "<c@x>", inReplyTo: null, references }), {
    inReplyTo: null,
    references: ["ok@x"],
  });
});

Deno.test("answerAutoSubmitted() marks answers to automated mail", () => {
  assert.equal(answerAutoSubmitted({ automated: "none" }), null);
  assert.deepEqual(
    (["auto_reply", "bulk", "bounce"] as const).map((automated) =>
      answerAutoSubmitted({ automated })
    ),
    ["auto-replied", "auto-replied", "auto-replied"],
  );
});
