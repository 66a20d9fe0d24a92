/** Routes of drafts under /v1/mail (docs/mail.md); what a person decides on is approval_routes.ts. */
import { Buffer } from "node:buffer";
import { z } from "@hono/zod-openapi";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import { answerWhole, LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { BoundedPage } from "../../base/http/fields/bounded_page.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { pageOf, PageQuery, unkept } from "../access/schemas.ts";
import { unknownObject } from "../access/unknown_object.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { Draft, DraftMarks, DraftRow as ListedDraft } from "../mailbox/shown/draft_schemas.ts";
import { draftFor, shownDraft } from "../mailbox/shown/shown_draft.ts";
import { rangeBehind } from "../mailbox/messages/messages.ts";
import { draftKey, type DraftRow } from "../records/draft_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { addresses, AttachmentToSend } from "../sending/schemas.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import type { Drafts, WholeDraft } from "./drafts.ts";
import { NO_DRAFT, sendMailDraft, WRITTEN } from "./send_route.ts";

interface DraftServices extends MailCore {
  drafts: Drafts;
  composer: Pick<MailWorker, "readRequest">;
}

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

const NO_INBOX = "the org has no inbox with this id or address, or the key is for another";
const KEPT = { ...WRITTEN, invalid_email: null };

const createMailDraft = keyRoute({
  method: "POST",
  path: "/v1/mail/inboxes/{id}/drafts",
  id: "createMailDraft",
  may: "write",
  summary: "Create a draft",
  note: "An agent writes, a human sends.",
  bodyLimit: "mailRequestBytes",
  words: ({ limits }) => ({
    description: "Writes a message without sending it. **On a `draft_only` inbox the org's " +
      "`verified_email` is mailed a link** to a page that shows all of it and sends it at a press; " +
      "10 such mails an hour, then one summary. Its HTML is reduced to elements, attributes and styles that " +
      "always show; `html_reduced` names what was taken out.\n\n" +
      `An inbox keeps at most ${limits.mailDraftsPerInbox} drafts, until they are sent or discarded.`,
    body: {
      description: "What is missing is asked for when it is sent. null counts as absent, unknown " +
        "fields are ignored, but one that differs from a known name by case, underscores or one " +
        "letter only is refused.",
      schema: DraftRequest,
    },
    answers: {
      200: unkept("The draft that was made under this client_id.", z.union([Draft, DraftMarks])),
      201: unkept("The draft.", Draft),
    },
    errors: {
      ...KEPT,
      not_found: `${NO_INBOX}; or the inbox has no message \`in_reply_to_message_id\``,
      draft_limit_reached: null,
    },
  }),
  handle: (services: DraftServices) => async (request) => {
    const { inboxes, drafts, composer, limits, now } = services;
    const { org, params, confirm } = request;
    const inbox = await inboxes.find(request, params["id"]!);
    const body = await request.bytes();
    const context = { limits, nowMs: now() };
    const { request: asked } = await composer.readRequest("draft", body, context, false, org.id);
    await confirm(); // the worker may have been busy
    const { inReplyToMessageId } = asked;
    if (inReplyToMessageId !== null) {
      await requireMessage(services, org.id, inbox.id, inReplyToMessageId);
    }
    const made = await drafts.create(request, inbox.id, {
      ...asked,
      headers: [],
      isOfOneKey: true,
    });
    return show(services, request, made, made.isNew ? 201 : 200, made.isNew);
  },
});

/** Rows of one read of the store, of at most 48 KiB each. */
const BATCH = 20;

const listMailDrafts = keyRoute({
  method: "GET",
  path: "/v1/mail/inboxes/{id}/drafts",
  id: "listMailDrafts",
  may: "read",
  summary: "List drafts",
  words: {
    description: "The drafts of an inbox, the newest first, without their texts.",
    query: PageQuery,
    answers: { 200: unkept("A page of drafts.", pageOf(ListedDraft).openapi("MailDraftPage")) },
    errors: { not_found: NO_INBOX },
  },
  handle: ({ store, inboxes, pages, limits, answers }: MailCore) => async (request) => {
    const { c, org, key, params } = request;
    const inbox = await inboxes.find(request, params["id"]!);
    const page = await pages.read(c, { org: org.id, key_inbox: key.inboxId, inbox: inbox.id });
    const after = page.after === null ? null : page.after[0] as string;
    const prefix = draftKey.under(org.id, inbox.id);
    const rows = await store.list<DraftRow>(rangeBehind(prefix, after, true), {
      limit: page.limit + 1,
      batchSize: BATCH,
      reverse: true,
    });
    const fitting = new BoundedPage<{ id: string; json: string }>({
      limit: page.limit,
      maxBytes: limits.pageBytes,
      sizeOf: ({ json }) => Buffer.byteLength(json),
    });
    fitting.add(
      rows.map(({ value }) => ({ id: value.id, json: JSON.stringify(shownDraft(value)) })),
    );
    const json = fitting.rows.map((row) => row.json);
    const sizeBytes = json.reduce((sum, one) => sum + one.length, 0);
    if (sizeBytes > LARGE_ANSWER_BYTES) c.set("reservation", answers.reserve(sizeBytes, "agent"));
    return page.answerJson(json, fitting.hasMore ? [fitting.rows.at(-1)!.id] : null);
  },
});

const readMailDraft = keyRoute({
  method: "GET",
  path: "/v1/mail/drafts/{id}",
  id: "readMailDraft",
  may: "read",
  summary: "Read a draft",
  addition: true,
  words: {
    description:
      "A draft with its texts. In an inbox that has become `draft_only`, its HTML is reduced when it is first " +
      "read or sent: the revision rises.",
    answers: { 200: unkept("The draft.", Draft) },
    errors: { ...WRITTEN, not_found: NO_DRAFT },
  },
  handle: (services: DraftServices) => async (request) => {
    const { drafts } = services;
    const row = await drafts.asItGoesOut(await drafts.find(request, request.params["id"]!));
    return show(services, request, await drafts.whole(row), 200, false);
  },
});

const updateMailDraft = keyRoute({
  method: "PATCH",
  path: "/v1/mail/drafts/{id}",
  id: "updateMailDraft",
  may: "write",
  summary: "Change a draft",
  addition: true,
  bodyLimit: "mailRequestBytes",
  words: {
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
    answers: { 200: unkept("The draft as changed.", z.union([Draft, DraftMarks])) },
    errors: { ...KEPT, not_found: NO_DRAFT },
  },
  handle: (services: DraftServices) => async (request) => {
    const { drafts, composer, limits, now } = services;
    const { org, params, confirm } = request;
    const row = await drafts.find(request, params["id"]!);
    const body = await request.bytes();
    const context = { limits, nowMs: now() };
    const { request: changes } = await composer.readRequest(
      "draft_changes",
      body,
      context,
      false,
      org.id,
    );
    await confirm();
    if (Object.keys(changes).length === 0) {
      const whole = await drafts.whole(await drafts.asItGoesOut(row));
      return show(services, request, whole, 200, false);
    }
    return show(services, request, await drafts.change(request, row, changes), 200, true);
  },
});

const discardMailDraft = keyRoute({
  method: "DELETE",
  path: "/v1/mail/drafts/{id}",
  id: "discardMailDraft",
  may: "write",
  summary: "Discard a draft",
  addition: true,
  words: {
    description: "Discards a draft, with its attachments.",
    answers: { 204: { description: "It is gone, and the links to it." } },
    errors: { not_found: NO_DRAFT },
  },
  handle: ({ drafts }: DraftServices) => async (request) => {
    await drafts.discard(request, await drafts.find(request, request.params["id"]!));
    return noContent();
  },
});

export const DRAFT_ROUTES = [
  createMailDraft,
  listMailDrafts,
  readMailDraft,
  updateMailDraft,
  discardMailDraft,
  sendMailDraft,
];

/** @param isDone whether the answer reports what was committed, and can no longer be refused */
function show(
  { answers }: MailCore,
  { c, key }: KeyedRequest,
  { row, texts }: WholeDraft,
  status: number,
  isDone: boolean,
): Response {
  const body = new TextEncoder().encode(JSON.stringify(draftFor(key, row, texts)));
  if (body.length > LARGE_ANSWER_BYTES) {
    c.set(
      "reservation",
      isDone ? answers.reserveAnyway(body.length) : answers.reserve(body.length, "agent"),
    );
  }
  return answerWhole(body, { status, headers: { ...JSON_HEADERS, ...NO_STORE } });
}

/** @throws RelayError `not_found` */
async function requireMessage(
  { messages }: MailCore,
  orgId: string,
  inboxId: string,
  messageId: string,
): Promise<void> {
  const isThere = isMailId("msg", messageId) &&
    await messages.read(orgId, inboxId, messageId) !== null;
  if (!isThere) throw unknownObject("message");
}
