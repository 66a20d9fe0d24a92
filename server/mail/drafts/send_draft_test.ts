import assert from "node:assert/strict";
import type { MailboxTransaction } from "../core/mailboxes.ts";
import type { DraftRow } from "../records/draft_record.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { sendDraft, type SendDraftServices } from "./send_draft.ts";

const ROW = {
  id: "dft_1",
  orgId: "org",
  inboxId: "ibx",
  inReplyToMessageId: null,
  to: [{ name: null, address: "ann@example.org" }],
  cc: [],
  bcc: [],
  replyTo: [],
  labels: [],
  subject: null,
  sendAtMs: null,
  attachments: [],
  files: null,
  revision: 1,
} as unknown as DraftRow;

/** Sends a draft in a commit that finds the inbox draft_only; answers with the draft's removal. */
async function sendInDraftOnly(row: DraftRow, html: string | null): Promise<string> {
  const removed: unknown[] = [];
  const transaction = {
    nowMs: 0,
    delete: (key: unknown[]) => removed.push(key[0]),
    record: () => null,
    putRecord() {},
  };
  const given = {
    transaction,
    inbox: { sendPolicy: "draft_only" },
    mailbox: { drafts: 1 },
    org: { id: "org" },
  } as unknown as MailboxTransaction;
  const services = {
    drafts: {
      read: () => Promise.resolve(row),
      whole: () => Promise.resolve({ row, texts: { text: "x", html, headers: [] } }),
      files: () => Promise.resolve([]),
    },
    messages: { read: () => Promise.resolve(null) },
    sender: {
      async send(_org: unknown, _inbox: unknown, _message: unknown, { extras }: {
        extras: { prepare(): Promise<void>; plan(given: MailboxTransaction): unknown };
      }) {
        await extras.prepare();
        extras.plan(given);
        return new TextEncoder().encode(String(removed[0]));
      },
    },
    blobs: { drop() {} },
    now: () => 0,
  } as unknown as SendDraftServices;
  const sent = await sendDraft(services, {} as never, {} as never, row, {
    gone: () => unknownObject("draft"),
  });
  return new TextDecoder().decode(sent);
}

Deno.test("sendDraft() sends nothing unreduced once its inbox is draft_only, even by then alone", async () => {
  const texts = { ...ROW, texts: { sections: [] } } as unknown as DraftRow;
  await assert.rejects(sendInDraftOnly(texts, "<style>p{display:none}</style><p>x"), {
    name: "RelayError",
    code: "draft_changed",
  });
  assert.equal(await sendInDraftOnly({ ...texts, reduced: [] }, "<p>x</p>"), "mail-draft");
  assert.equal(await sendInDraftOnly(texts, null), "mail-draft");
});
