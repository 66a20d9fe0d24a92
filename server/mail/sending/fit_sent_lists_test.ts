import assert from "node:assert/strict";
import { emptyParsedMail } from "../reading/parsed/parsed_patch.ts";
import type { Recipient } from "../records/message_record.ts";
import { fitSentLists } from "./fit_sent_lists.ts";
import type { NewMessage } from "../mailbox/messages/stage_message.ts";

const LONG = `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example`;
const person = (i: number) => ({ name: "\u{1f600}".repeat(100), address: `${i}${LONG.slice(2)}` });
const recipient = (i: number): Recipient => ({
  address: person(i).address,
  status: "bounced",
  smtpCode: 550,
  enhancedCode: "5.1.1",
  reason: "refused",
  detail: "x".repeat(200),
  attempts: 10,
  nextAttemptAtMs: null,
  atMs: 1_790_000_000_000,
});

function messageTo(people: number): NewMessage {
  const all = Array.from({ length: people }, (_, i) => person(i + 10));
  return {
    ...emptyParsedMail().facts,
    orgId: "org_x",
    inboxId: "ibx_x",
    direction: "outbound",
    envelope: null,
    auth: null,
    to: all,
    bcc: all,
    references: Array.from({ length: 50 }, (_, i) => `${i}`.padStart(250, "r")),
    recipients: all.map((_, i) => recipient(i + 10)),
    sendAtMs: null,
    cancelledAtMs: null,
    labels: [],
    read: true,
    blob: { name: ["org_x", "ibx_x", "x"], sections: [] },
    repeatKey: null,
  };
}

Deno.test("fitSentLists() leaves what fits as it is", () => {
  const message = messageTo(2);
  assert.deepEqual(fitSentLists(message).to, message.to);
  assert.deepEqual(fitSentLists({ ...message, references: ["a"] }).parseWarnings, []);
});

Deno.test("fitSentLists() keeps every recipient of the largest message within a value of the store", async () => {
  const fitted = fitSentLists(messageTo(50));
  assert.equal(fitted.recipients.length, 50);
  assert.deepEqual(fitted.parseWarnings, ["addresses_cut", "references_cut"]);
  const kv = await Deno.openKv(":memory:");
  try {
    await kv.set(["row"], fitted);
  } finally {
    kv.close();
  }
});
