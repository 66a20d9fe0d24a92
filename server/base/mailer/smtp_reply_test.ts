import assert from "node:assert/strict";
import { parseSmtpReply } from "./smtp_reply.ts";

Deno.test("parseSmtpReply() tells code, enhanced code and text apart", () => {
  const cases: [string, ReturnType<typeof parseSmtpReply>][] = [
    ["250 ok", { code: 250, enhancedCode: null, text: "ok" }],
    ["250", { code: 250, enhancedCode: null, text: "" }],
    ["550 5.1.1 no such user", { code: 550, enhancedCode: "5.1.1", text: "no such user" }],
    ["550 5.1.1", { code: 550, enhancedCode: "5.1.1", text: "" }],
    ["451 4.7.650 later", { code: 451, enhancedCode: "4.7.650", text: "later" }],
    ["550-5.7.26 one\n550 5.7.26 two", { code: 550, enhancedCode: "5.7.26", text: "one\ntwo" }],
    ["550-one\r\n550 5.2.1 two", { code: 550, enhancedCode: "5.2.1", text: "one\ntwo" }],
    // No enhanced code: another class, more digits, or part of a longer word.
    ["550 3.1.1 odd", { code: 550, enhancedCode: null, text: "3.1.1 odd" }],
    ["550 5.1.1.1 odd", { code: 550, enhancedCode: null, text: "5.1.1.1 odd" }],
    ["550 5.1.1000 odd", { code: 550, enhancedCode: null, text: "5.1.1000 odd" }],
    ["550 5.1", { code: 550, enhancedCode: null, text: "5.1" }],
    ["5501 odd", null],
    ["hello", null],
    ["", null],
  ];
  for (const [response, expected] of cases) {
    assert.deepEqual(parseSmtpReply(response), expected, response);
  }
});
