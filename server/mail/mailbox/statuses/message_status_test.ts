import assert from "node:assert/strict";
import type { Recipient, RecipientStatus } from "../../records/message_record.ts";
import { type MessageStatus, messageStatus } from "./message_status.ts";

const NOW_MS = 1_000;
const recipient = (status: RecipientStatus): Recipient => ({
  address: "reader@example.org",
  status,
  smtpCode: null,
  enhancedCode: null,
  reason: null,
  detail: null,
  attempts: 0,
  nextAttemptAtMs: null,
  atMs: 0,
});
const message = (statuses: readonly RecipientStatus[]) => ({
  direction: "outbound" as const,
  sendAtMs: null as number | null,
  cancelledAtMs: null as number | null,
  recipients: statuses.map(recipient),
});

Deno.test("messageStatus() is the first that applies", () => {
  const cases: [RecipientStatus[], MessageStatus][] = [
    [["sent", "queued", "sending", "deferred", "complained"], "queued"],
    [["sent", "sending", "deferred", "complained"], "sending"],
    [["sent", "deferred", "complained", "bounced", "failed"], "deferred"],
    [["sent", "failed", "bounced", "complained"], "complained"],
    [["delivered", "failed", "bounced"], "bounced"],
    [["delivered", "sent", "failed"], "failed"],
    [["delivered", "delivered"], "delivered"],
    [["delivered", "sent"], "sent"],
    [["sent"], "sent"],
  ];
  assert.equal(cases.length, 9);
  for (const [statuses, expected] of cases) {
    assert.equal(messageStatus(message(statuses), NOW_MS), expected, statuses.join());
    assert.equal(messageStatus(message(statuses.toReversed()), NOW_MS), expected);
  }
});

Deno.test("messageStatus() shows who is being sent to, unless that is over", () => {
  const first = (index: number) => index === 0;
  assert.equal(messageStatus(message(["queued", "sent"]), NOW_MS, first), "sending");
  assert.equal(messageStatus(message(["deferred", "sent"]), NOW_MS, first), "sending");
  assert.equal(messageStatus(message(["queued", "queued"]), NOW_MS, first), "queued");
  assert.equal(messageStatus(message(["bounced", "sent"]), NOW_MS, first), "bounced");
});

Deno.test("messageStatus() is scheduled until the time, and cancelled for good", () => {
  const scheduled = { ...message(["queued"]), sendAtMs: NOW_MS };
  assert.equal(messageStatus(scheduled, NOW_MS - 1), "scheduled");
  assert.equal(messageStatus(scheduled, NOW_MS), "queued");
  const cancelled = { ...scheduled, cancelledAtMs: 10 };
  assert.equal(messageStatus(cancelled, NOW_MS - 1), "cancelled");
  assert.equal(messageStatus(cancelled, NOW_MS + 1), "cancelled");
  assert.equal(messageStatus({ ...message([]), direction: "inbound" }, NOW_MS), "received");
});
