/** Drafts in the API description (docs/mail.md, "An agent writes, a person sends"). */
import { z } from "@hono/zod-openapi";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";
import { pageOf, PageQuery } from "../access/schemas.ts";
import { Message, MessageMarks } from "../mailbox/shown/schemas.ts";
import { addresses, AttachmentToSend, KeyHeader } from "../sending/schemas.ts";
import { Draft, DraftMarks, DraftRow } from "../mailbox/shown/draft_schemas.ts";

const text = z.string().nullable().optional();

/** What a draft may say: everything may be missing. */
const WORDS = {
  to: addresses.optional(),
  cc: addresses.nullable().optional(),
  bcc: addresses.nullable().optional(),
  subject: text,
  text,
  html: text,
  reply_to: addresses.optional(),
  labels: z.array(z.string()).optional(),
  send_at: z.string().optional().openapi({
    description:
      "RFC 3339, 30 s to 30 days ahead. Where it has passed, the draft goes out at once.",
  }),
};

const DraftRequest = z.object({
  ...WORDS,
  to: addresses.nullable().optional(),
  attachments: z.array(AttachmentToSend).nullable().optional(),
  in_reply_to_message_id: z.string().nullable().optional().openapi({
    description: "A message of the inbox that it answers, in whose thread it goes out.",
  }),
  client_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/).nullable().optional().openapi({
    description:
      "1 to 64 of A-Z, a-z, 0-9, _ and -. The same again in the inbox gives what exists.",
  }),
}).openapi("MailDraftRequest");

const DraftChanges = z.strictObject({
  ...WORDS,
  attachments: z.array(z.union([
    z.object({ id: z.string() }).openapi({ description: "Keeps one." }),
    AttachmentToSend,
  ])).optional(),
}).openapi("MailDraftChanges");

const SendDraft = z.object({
  revision: z.int().min(1).nullable().optional().openapi({
    description: "The one that you have read; required on a `draft_only` inbox.",
  }),
}).openapi("MailDraftSendRequest");

const json = (description: string, schema: z.ZodType) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { schema },
});
const page = (description: string) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { type: "text/html", schema: z.string().min(1) },
});

const NO_INBOX = "the org has no inbox with this id or address, or the key is for another";
const NO_DRAFT = "the org has no such draft, or the key is for another inbox";
const WRITTEN = {
  rate_limited: "the org has written as many bytes as it may for now",
  unavailable: "the disk is full, or the org has no room",
};
const KEPT = { ...WRITTEN, invalid_email: null };
const SUSPENDED = "the operator has suspended the org";

export function draftRoutes(limits: Limits): DescribedRoutes {
  return {
    createMailDraft: {
      description: "Writes a message without sending it. **On a `draft_only` inbox the org's " +
        "`verified_email` is mailed a link** to a page that shows all of it and sends it at a press; " +
        "10 such mails an hour, then one summary. Its HTML is reduced to elements, attributes and styles that " +
        "always show; `html_reduced` names what was taken out.\n\n" +
        `An inbox keeps at most ${limits.mailDraftsPerInbox} drafts, until they are sent or discarded.`,
      body: {
        description:
          "What is missing is asked for when it is sent. null counts as absent, unknown " +
          "fields are ignored, but one that differs from a known name by case, underscores or one " +
          "letter only is refused.",
        schema: DraftRequest,
      },
      answers: {
        200: json("The draft that was made under this client_id.", z.union([Draft, DraftMarks])),
        201: json("The draft.", Draft),
      },
      errors: {
        ...KEPT,
        not_found: `${NO_INBOX}; or the inbox has no message \`in_reply_to_message_id\``,
        draft_limit_reached: null,
      },
    },
    listMailDrafts: {
      description: "The drafts of an inbox, the newest first, without their texts.",
      query: PageQuery,
      answers: { 200: json("A page of drafts.", pageOf(DraftRow).openapi("MailDraftPage")) },
      errors: { not_found: NO_INBOX },
    },
    readMailDraft: {
      description:
        "A draft with its texts. In an inbox that has become `draft_only`, its HTML is reduced when it is first " +
        "read or sent: the revision rises.",
      answers: { 200: json("The draft.", Draft) },
      errors: { ...WRITTEN, not_found: NO_DRAFT },
    },
    updateMailDraft: {
      description:
        "Replaces the fields that are named; the revision rises. On a `draft_only` inbox " +
        "the link that was mailed before approves nothing any more, and another one is mailed. A key " +
        "without `inbox:read` is answered marks, and changes no recipients, unless it alone has written the draft.",
      body: {
        description:
          "null clears subject, text and html and empties cc and bcc. Unknown fields are " +
          "refused. attachments are those that are named: by id, or new.",
        schema: DraftChanges,
      },
      answers: { 200: json("The draft as changed.", z.union([Draft, DraftMarks])) },
      errors: { ...KEPT, not_found: NO_DRAFT },
    },
    discardMailDraft: {
      description: "Discards a draft, with its attachments.",
      answers: { 204: { description: "It is gone, and the links to it." } },
      errors: { not_found: NO_DRAFT },
    },
    sendMailDraft: {
      description:
        "Sends a draft; it is gone then. On a `draft_only` inbox an org-scoped key sends " +
        "it, with the revision that was read, and an inbox-scoped key does not.\n\nAs when a message " +
        "is sent, it is one commit: the draft is sent, or still there.",
      headers: KeyHeader,
      body: { description: "May be empty.", schema: SendDraft, optional: true },
      answers: {
        202: {
          description: "The message as accepted.",
          headers: ["Idempotent-Replayed", "Cache-Control"],
          content: { schema: z.union([Message, MessageMarks]) },
        },
      },
      errors: {
        not_found: NO_DRAFT,
        trial_org_cannot_send: null,
        approval_required: "the inbox is draft_only, and the key is for it alone",
        draft_changed: null,
        idempotency_key_reused: null,
        idempotency_in_progress: null,
        recipient_not_allowed: null,
        recipient_suppressed: null,
        rate_limited: "the inbox, the org or this relay has sent as much as it may for now",
        unavailable: "the disk is full, the org has no room, or too much is being composed",
      },
    },
    readDraftPage: {
      description:
        "Where the link of the mail leads: every recipient, the texts, the HTML as it goes " +
        "out, the attachments with their hashes, and two buttons. Looking at it " +
        "does nothing.",
      query: z.object({
        token: z.string().optional().openapi({ description: "The one in the link of the mail." }),
      }),
      answers: {
        200: page(
          "The draft as it stands; without buttons where the link is of a former revision.",
        ),
        410: page("The link leads nowhere."),
      },
      errors: { ...WRITTEN, link_expired: null, org_suspended: SUSPENDED },
      never: ["invalid_json"],
    },
    readDraftHtml: {
      description:
        "What the frame of the page shows: the HTML of the draft as it goes out, byte for byte, but for " +
        "its own pictures, which stand in it. Nothing runs in it and nothing comes from elsewhere.",
      query: z.object({
        token: z.string().optional().openapi({ description: "The one of the draft as it stands." }),
      }),
      answers: {
        200: page("The HTML; empty where the draft has none."),
        410: page("The link leads nowhere, or is of a former revision."),
      },
      errors: { ...WRITTEN, link_expired: null, org_suspended: SUSPENDED },
      never: ["invalid_json"],
    },
    decideOnDraft: {
      description:
        "The buttons of the page. Approved, this very revision is sent, once; rejected, it " +
        "is discarded. With the link of another revision nothing is done, and the page shows the new " +
        "one.",
      body: {
        description: "A form.",
        type: "application/x-www-form-urlencoded",
        schema: z.object({ token: z.string(), action: z.enum(["approve", "reject"]) }),
      },
      answers: {
        200: page("Done."),
        409: page("The draft has another revision by now: nothing was done."),
        410: page("The link leads nowhere."),
      },
      errors: {
        link_expired: null,
        draft_changed: null,
        org_suspended: SUSPENDED,
        forbidden: "the form is that of another site",
        recipient_not_allowed: null,
        recipient_suppressed: null,
        rate_limited: "the inbox, the org or this relay has sent as much as it may for now",
        unavailable: "the disk is full, the org has no room, or too much is being composed",
      },
    },
  };
}
