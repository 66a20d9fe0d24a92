import assert from "node:assert/strict";
import type { FailureReason, Recipient, RecipientStatus } from "../../records/message_record.ts";
import { afterEvent, isFinal, nextStatus, type Trigger } from "./recipient_status.ts";

const STATUSES: readonly (RecipientStatus | "failed (unknown)")[] = [
  "queued",
  "sending",
  "deferred",
  "sent",
  "delivered",
  "bounced",
  "complained",
  "failed",
  "failed (unknown)",
];
const TRIGGERS: readonly Trigger[] = [
  "begun",
  "accepted",
  "deferred",
  "refused",
  "sender_refused",
  "dropped",
  "lost",
  "suppressed",
  "expired",
  "reported_delivered",
  "reported_bounced",
  "complained",
];

/** The page's table, row by row. */
const TABLE: Readonly<Record<string, string>> = {
  "queued begun": "sending",
  "deferred begun": "sending",
  "sending accepted": "sent",
  "sending deferred": "deferred",
  "sending refused": "bounced refused",
  "sending sender_refused": "failed sender_refused",
  "sending dropped": "queued",
  "sending lost": "failed unknown",
  "queued suppressed": "failed suppressed",
  "deferred suppressed": "failed suppressed",
  "queued expired": "failed expired",
  "deferred expired": "failed expired",
  "sending reported_delivered": "delivered",
  "deferred reported_delivered": "delivered",
  "failed (unknown) reported_delivered": "delivered",
  "sending reported_bounced": "bounced refused",
  "deferred reported_bounced": "bounced refused",
  "failed (unknown) reported_bounced": "bounced refused",
  "sending complained": "complained",
  "deferred complained": "complained",
  "failed (unknown) complained": "complained",
  "sent reported_delivered": "delivered",
  "sent reported_bounced": "bounced refused",
  "delivered reported_bounced": "bounced refused",
  "sent complained": "complained",
  "delivered complained": "complained",
};

Deno.test("nextStatus() is the table: every trigger in every status", () => {
  const found: Record<string, string> = {};
  for (const one of STATUSES) {
    const isUnknown = one === "failed (unknown)";
    const status = isUnknown ? "failed" : one;
    const reason = isUnknown ? "unknown" : status === "failed" ? "expired" : null;
    for (const trigger of TRIGGERS) {
      const next = nextStatus({ status, reason, smtpCode: null }, trigger);
      if (next === null) continue;
      found[`${one} ${trigger}`] = [next.status, next.reason].filter((word) => word !== null)
        .join(" ");
    }
  }
  assert.deepEqual(found, TABLE);
});

Deno.test("nothing leaves bounced, complained or failed, whatever the reason, but for unknown", () => {
  const reasons: FailureReason[] = [
    "refused",
    "expired",
    "sender_refused",
    "suppressed",
    "next_hop_refused",
  ];
  const finals = [
    { status: "bounced", reason: "refused" },
    { status: "complained", reason: null },
    ...reasons.map((reason) => ({ status: "failed", reason })),
  ] as const;
  const left = finals.flatMap((one) =>
    TRIGGERS.filter((trigger) =>
      nextStatus({ ...one, smtpCode: 550 } as Recipient, trigger) !== null
    )
  );
  assert.deepEqual(left, []);
});

Deno.test("nextStatus() expires with next_hop_refused where the last answer was a 5xx before MAIL", () => {
  const reasonOf = (status: RecipientStatus, smtpCode: number | null) =>
    nextStatus({ status, reason: null, smtpCode }, "expired")!.reason;
  assert.equal(reasonOf("deferred", 554), "next_hop_refused");
  assert.equal(reasonOf("deferred", 535), "next_hop_refused");
  assert.equal(reasonOf("deferred", 451), "expired");
  assert.equal(reasonOf("deferred", null), "expired");
  assert.equal(reasonOf("queued", null), "expired");
});

const QUEUED: Recipient = {
  address: "reader@example.org",
  status: "queued",
  smtpCode: null,
  enhancedCode: null,
  reason: null,
  detail: null,
  attempts: 0,
  nextAttemptAtMs: null,
  atMs: 1,
};
const REFUSED = { smtpCode: 451, enhancedCode: "4.7.1", detail: "try later" };

Deno.test("afterEvent() takes what an attempt brought for a recipient that is being sent to", () => {
  const deferred = afterEvent(
    QUEUED,
    { trigger: "deferred", said: REFUSED, attempts: 1, nextAttemptAtMs: 60_000 },
    { nowMs: 5, isSending: true },
  )!;
  assert.deepEqual(deferred, {
    ...QUEUED,
    ...REFUSED,
    status: "deferred",
    attempts: 1,
    nextAttemptAtMs: 60_000,
    atMs: 5,
  });
  const event = { trigger: "accepted", said: { ...REFUSED, smtpCode: 250 }, attempts: 2 } as const;
  assert.equal(afterEvent(deferred, event, { nowMs: 6, isSending: false }), null);
  const sent = afterEvent(deferred, event, { nowMs: 6, isSending: true })!;
  assert.deepEqual([sent.status, sent.smtpCode, sent.attempts, sent.nextAttemptAtMs], [
    "sent",
    250,
    2,
    null,
  ]);
  const unknown = afterEvent(deferred, { trigger: "lost" }, { nowMs: 7, isSending: true })!;
  assert.deepEqual([unknown.status, unknown.reason, unknown.smtpCode], ["failed", "unknown", null]);
});

Deno.test("afterEvent() of a report before the final reply: the reply changes nothing any more", () => {
  const report = { trigger: "reported_bounced", said: REFUSED } as const;
  assert.equal(afterEvent(QUEUED, report, { nowMs: 5, isSending: false }), null);
  const bounced = afterEvent(QUEUED, report, { nowMs: 5, isSending: true })!;
  assert.deepEqual([bounced.status, bounced.reason, bounced.smtpCode], ["bounced", "refused", 451]);
  assert.equal(afterEvent(bounced, { trigger: "accepted" }, { nowMs: 6, isSending: true }), null);
  const delivered = afterEvent(QUEUED, { trigger: "reported_delivered" }, {
    nowMs: 5,
    isSending: true,
  })!;
  assert.equal(afterEvent(delivered, { trigger: "accepted" }, { nowMs: 6, isSending: true }), null);
  assert.equal(afterEvent(delivered, { trigger: "lost" }, { nowMs: 6, isSending: true }), null);
});

Deno.test("afterEvent() keeps what the last attempt was told where the time runs out", () => {
  const deferred: Recipient = { ...QUEUED, ...REFUSED, status: "deferred", attempts: 9 };
  const expired = afterEvent(deferred, { trigger: "expired" }, { nowMs: 8, isSending: false })!;
  assert.deepEqual([expired.status, expired.reason, expired.smtpCode, expired.detail], [
    "failed",
    "expired",
    451,
    "try later",
  ]);
});

Deno.test("isFinal() is false for what is still to be attempted", () => {
  const settled = STATUSES.filter((one) => isFinal({ status: one as RecipientStatus }));
  assert.deepEqual(settled, STATUSES.slice(3));
});
