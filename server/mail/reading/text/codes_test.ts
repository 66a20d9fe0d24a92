import assert from "node:assert/strict";
import vectors from "../../../../tests/vectors/mail/codes.json" with { type: "json" };
import { findCodes, MAX_CODES } from "./codes.ts";

Deno.test("findCodes() finds the codes of mails in eight languages and more", () => {
  assert.ok(vectors.codes.length >= 40);
  assert.ok(new Set(vectors.codes.map(({ language }) => language)).size >= 8);
  const wrong = vectors.codes
    .map(({ subject, text, codes }) => ({ subject, text, codes, found: findCodes(subject, text) }))
    .filter(({ codes, found }) => JSON.stringify(codes) !== JSON.stringify(found));
  assert.deepEqual(wrong, []);
});

Deno.test("findCodes() finds none in what only looks like one", () => {
  assert.ok(vectors.lookalikes.length >= 40);
  const wrong = vectors.lookalikes
    .map(({ subject, text }) => ({ subject, text, found: findCodes(subject, text) }))
    .filter(({ found }) => found.length > 0);
  assert.deepEqual(wrong, []);
});

Deno.test("findCodes() counts 60 characters from the word on both sides", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  assert.deepEqual(values(`code ${"-".repeat(58)} 482913`), ["482913"]);
  assert.deepEqual(values(`code ${"-".repeat(59)} 482913`), []);
  assert.deepEqual(values(`482913 ${"-".repeat(58)} code`), ["482913"]);
  assert.deepEqual(values(`482913 ${"-".repeat(59)} code`), []);
});

Deno.test("findCodes() gives each code once, and five at most", () => {
  const many = Array.from({ length: 9 }, (_, i) => `code ${1000 + i * 7}1`).join("\n");
  assert.equal(findCodes(null, many).length, MAX_CODES);
  assert.deepEqual(findCodes("Code 482913", "Your code is 482 913, again: code 482913"), [
    { value: "482913", kind: "numeric" },
  ]);
});

Deno.test("findCodes() gives digits alone, as they are pasted", () => {
  assert.deepEqual(findCodes("G-482913 is your code", ""), [{ value: "482913", kind: "numeric" }]);
  assert.deepEqual(findCodes(null, "code: 4829-1355"), [{ value: "48291355", kind: "numeric" }]);
  assert.deepEqual(findCodes(null, "Your code is 12 34 56"), [{
    value: "123456",
    kind: "numeric",
  }]);
});

Deno.test("findCodes() reads digits in groups of any number, with one space or hyphen in a row", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  assert.deepEqual(values("Your code is 12 34 56"), ["123456"]);
  assert.deepEqual(values("Enter this verification code:\n\n9 1 2 8 4 4\n"), ["912844"]);
  assert.deepEqual(values("verification code:\n9\t1\t2\t8\t4\t4"), ["912844"]);
  assert.deepEqual(values("Your code: 12-34-56-78"), ["12345678"]);
  assert.deepEqual(values("Use this code to sign in:\n\n84 13 56\n\nIt works once."), ["841356"]);
  assert.deepEqual(values("Your PIN is 123-45-678."), ["12345678"]);
  assert.deepEqual(values("code 1\u00a02\u00a03\u00a05"), ["1235"]);
  assert.deepEqual(values("code 12  34  56"), []);
  assert.deepEqual(values("code 12 34 56 78 90"), []);
  assert.deepEqual(values("code 1 2 3 4 5 6 7 8 9 1"), []);
});

Deno.test("findCodes() takes no day, no telephone number and no row of steps for groups of a code", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  for (
    const text of [
      "Codes expire on 12-05-24.",
      "Codes expire on 2024-05-12.",
      "To get a code ring us at 12 34 56 78 today.",
      "Verify in steps 1 2 3 4 5.",
      "Verify it at 01 23 45 67 89.",
    ]
  ) assert.deepEqual(values(text), [], text);
});

Deno.test("findCodes() takes nothing out of addresses and links for a code", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  for (
    const text of [
      "Verify: http://127.0.0.1:8000/mail/482913",
      "Verify your address [http://localhost:48291/v1?code=739201]",
      "Verify at localhost:8000 or 127.0.0.1:8000",
      "verify example.org/482913",
      "code 482913@example.org",
    ]
  ) assert.deepEqual(values(text), [], text);
  assert.deepEqual(values("Code:482913"), ["482913"]);
});

Deno.test("findCodes() reads a code as people see it, whatever stands in it for the ends of lines", () => {
  const values = (text: string) => findCodes(null, text).map(({ value }) => value);
  assert.deepEqual(values("Your code is 482\u200b913"), ["482913"]);
  assert.deepEqual(values("Your co\u00adde is \ufeff4829\u206013"), ["482913"]);
});
