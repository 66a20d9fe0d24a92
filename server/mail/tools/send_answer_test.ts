import assert from "node:assert/strict";
import { sendAnswer } from "./send_answer.ts";

const bodyOf = (answer: unknown) => ({
  body: new TextEncoder().encode(JSON.stringify(answer)) as Uint8Array<ArrayBuffer>,
});

Deno.test("sendAnswer() tells of a draft that waits for a person, without its texts", () => {
  const draft = { id: "dft_1", inbox_id: "ibx_1", subject: "s", text: "t", html: "h", revision: 1 };
  const { structured, text } = sendAnswer(bodyOf({ status: "pending_approval", draft }), null);
  assert.deepEqual(structured, {
    status: "pending_approval",
    draft: { id: "dft_1", inbox_id: "ibx_1", subject: "s", revision: 1 },
  });
  assert.match(text, /^Nothing has been sent yet: .* draft dft_1 until a person approves it/);
  assert.match(text, /check_inbox inbox_id=ibx_1/);
});

Deno.test("sendAnswer() tells of a message that was accepted, without its texts", () => {
  const message = {
    ...{ id: "msg_1", inbox_id: "ibx_1", thread_id: "thr_1", text: "t", html: null },
    ...{ extracted_text: "t", headers: {}, links: [], recipients: [{ address: "a@b.org" }] },
    parse_warnings: [],
  };
  const { structured, text } = sendAnswer(bodyOf(message), null);
  assert.deepEqual(structured.message, {
    ...{ id: "msg_1", inbox_id: "ibx_1", thread_id: "thr_1" },
    recipients: [{ address: "a@b.org" }],
    parse_warnings: [],
  });
  assert.equal(structured.status, "queued");
  assert.match(text, /to be delivered to a@b\.org\. /);
  const deleted = { ...message, recipients: [], parse_warnings: ["deleted"] };
  assert.match(
    sendAnswer(bodyOf(deleted), null).text,
    /^Accepted before as message msg_1, which has been deleted since\. Do not send it again\.$/,
  );
});
