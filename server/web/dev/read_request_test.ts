import assert from "node:assert/strict";
import { readAnswerRequest, readFields, readMailRequest } from "./read_request.ts";

const FORM = "application/x-www-form-urlencoded";
const read = (body: string, type: string | null) =>
  readFields(
    { headers: new Headers(type === null ? {} : { "Content-Type": type }) },
    new TextEncoder().encode(body),
    ["as", "text"],
  );

Deno.test("readFields() reads JSON whatever it is said to be, and forms", () => {
  const json = { fields: { as: "reply" }, isForm: false };
  for (const type of [null, "application/json", "text/plain", FORM, `${FORM}; charset=utf-8`]) {
    assert.deepEqual(read(' {"as":"reply"}', type), json, String(type));
  }
  const form = { fields: { as: "reply", text: "\u00e4 +&" }, isForm: true };
  for (const type of [FORM, FORM.toUpperCase(), `${FORM}; charset=utf-8`]) {
    assert.deepEqual(read("as=reply&text=%C3%A4+%2B%26", type), form, type);
  }
  assert.throws(() => read("as=reply", "application/json"), { code: "invalid_json" });
  assert.deepEqual(read("other=1", FORM), { fields: { as: "", text: "" }, isForm: true });
});

Deno.test("readMailRequest() takes addresses that stand in a header as they are, and the null sender", () => {
  const mail = { from: "", to: "Bot+tag@agents.test", subject: " hi ", text: "\n" };
  assert.deepEqual(readMailRequest(mail), { ...mail, subject: "hi" });
  for (
    const to of [
      "",
      "bot",
      "a,b@x.test",
      "<a>@x.test",
      "a@b@x.test",
      "a@x_y",
      `${"a".repeat(65)}@x`,
    ]
  ) {
    assert.throws(() => readMailRequest({ ...mail, to }), { code: "invalid_json" }, to);
  }
});

Deno.test("readAnswerRequest() takes an answer of three kinds, with words or without", () => {
  assert.deepEqual(readAnswerRequest({ as: "reply" }), { as: "reply", text: undefined });
  assert.deepEqual(readAnswerRequest({ as: "reply", text: "" }), { as: "reply", text: undefined });
  assert.deepEqual(readAnswerRequest({ as: "reply", text: "x" }), { as: "reply", text: "x" });
  for (const as of [undefined, "constructor", "Reply", 1]) {
    assert.throws(() => readAnswerRequest({ as }), { code: "invalid_json" });
  }
});
