// Over 300 lines: the page of a draft for a link, and what of it a session is led to.
/** GET and POST /mail/drafts/{id}: a person reads a draft with its HTML in a frame, and approves or rejects it. */
import { z } from "@hono/zod-openapi";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { NO_STORE } from "../../base/http/answers/answer.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { readForm, requireForm } from "../../base/http/fields/form_body.ts";
import { type MailRequest, openRoute } from "../access/mail_route.ts";
import { draftOwnerKey, type DraftOwnerRow, type DraftRow } from "../records/draft_record.ts";
import type { Inbox } from "../records/inbox_record.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import { linkExpired } from "../records/link_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { SEND_ERRORS } from "../sending/schemas.ts";
import { ownPictures } from "../composing/reducing/reduced_addresses.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import { answerLink, tokenOf, tokenQuery } from "../access/link_answer.ts";
import { refusalOf } from "../access/access.ts";
import { requireOpen } from "../access/authenticate_key.ts";
import type { MailSessions } from "../sessions/mail_sessions.ts";
import { isDraftToken, isTokenOf, linkToken } from "../access/link_token.ts";
import { answerHtml, shownPictures, writeShownHtml } from "./answer_html.ts";
import { answerDraft, answerGone, answerRejected, answerSent } from "./approval_page.ts";
import { missingOf } from "./draft_message.ts";
import { draftChanged, sendDraft, type SendDraftServices } from "./send_draft.ts";
import { WRITTEN } from "./send_route.ts";

interface ApprovalServices extends SendDraftServices {
  composer: Pick<MailWorker, "preview">;
  sessions: Pick<MailSessions, "findIn">;
}

const page = (description: string) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { type: "text/html", schema: z.string().min(1) },
});

const ERRORS = { link_expired: null, org_suspended: "the operator has suspended the org" };

/** A page where people read it; all other refusals are JSON. */
const GONE = { link_expired: answerGone };

const FORM_FIELDS = ["token", "action"] as const;

const readDraftPage = openRoute({
  method: "GET",
  path: "/mail/drafts/{id}",
  id: "readDraftPage",
  may: "public",
  summary: "The page on which a person approves",
  addition: true,
  words: {
    description:
      "Where the link of the mail leads: every recipient, the texts, the HTML as it goes " +
      "out, the attachments with their hashes, and two buttons. Looking at it " +
      "does nothing.",
    query: tokenQuery(
      "The one in the link of the mail; without it a session leads to its own page.",
    ),
    answers: {
      200: page("The draft as it stands; without buttons where the link is of a former revision."),
      303: { description: "The page of a session in the mailbox.", headers: ["Cache-Control"] },
      410: page("The link leads nowhere."),
    },
    errors: { ...WRITTEN, ...ERRORS },
    never: ["invalid_json"],
  },
  handle: (services: ApprovalServices) => ({ c, params }) =>
    answerLink(namesHtml(c.req.raw), GONE, async () => {
      const token = tokenOf(c.get("query"));
      const isOfSession = token === undefined && isMailId("dft", params["id"]!) &&
        await services.sessions.findIn(c.req.raw.headers) !== null;
      if (isOfSession) {
        const headers = { ...NO_STORE, Location: `/mail/waiting/${params["id"]}` };
        return new Response(null, { status: 303, headers });
      }
      return await show(services, c, await open(services, params["id"]!, token), 200);
    }),
});

const readDraftHtml = openRoute({
  method: "GET",
  path: "/mail/drafts/{id}/html",
  id: "readDraftHtml",
  may: "public",
  summary: "The HTML of a draft, in its page",
  addition: true,
  words: {
    description:
      "What the frame of the page shows: the HTML of the draft as it goes out, byte for byte, but for " +
      "its own pictures, which stand in it. Nothing runs in it and nothing comes from elsewhere.",
    query: tokenQuery("The one of the draft as it stands."),
    answers: {
      200: page("The HTML; empty where the draft has none."),
      410: page("The link leads nowhere, or is of a former revision."),
    },
    errors: {
      ...WRITTEN,
      ...ERRORS,
      not_found: "the org of the session has no such draft",
      trial_expired: null,
    },
    never: ["invalid_json"],
  },
  handle: (services: ApprovalServices) => ({ c, params }) =>
    answerLink(namesHtml(c.req.raw), GONE, async () => {
      const { drafts, blobs, answers, reader } = services;
      const token = tokenOf(c.get("query"));
      const row = token === undefined
        ? await openBySession(services, params["id"]!, c.req.raw.headers)
        : await openCurrent(services, params["id"]!, token);
      const given = (await drafts.whole(row)).texts.html ?? "";
      // One that needs no approval goes out as it was given, and is not shown so.
      const html = row.reduced !== null && row.reduced !== undefined
        ? given
        : (await reader.reduce(given, ownPictures(row.attachments), row.orgId)).html;
      const pictures = [];
      for (const picture of shownPictures(html, row.attachments)) {
        const content = await blobs.read(row.files!, picture.section);
        pictures.push({ ...picture, content });
      }
      const shown = writeShownHtml(html, pictures);
      if (shown.length > LARGE_ANSWER_BYTES) {
        c.set("reservation", answers.reserve(shown.length, "agent"));
      }
      return answerHtml(shown);
    }),
});

const decideOnDraft = openRoute({
  method: "POST",
  path: "/mail/drafts/{id}",
  id: "decideOnDraft",
  may: "public",
  summary: "Approve or reject a draft",
  addition: true,
  words: {
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
      ...ERRORS,
      draft_changed: null,
      forbidden: "the form is that of another site",
      ...SEND_ERRORS,
    },
  },
  handle: (services: ApprovalServices) => (request) =>
    answerLink(namesHtml(request.c.req.raw), GONE, async () => {
      const { c, params } = request;
      refuseForeignOrigin(c.req.raw.headers, services.baseUrl);
      requireForm(c.req.raw, FORM_FIELDS);
      const fields = readForm(await request.bytes(), FORM_FIELDS);
      try {
        return await decide(services, request, fields);
      } catch (error) {
        // Nothing was done: people are shown what it says now.
        const isChanged = error instanceof RelayError && error.code === "draft_changed";
        if (!isChanged || !namesHtml(c.req.raw)) throw error;
        return await show(services, c, await open(services, params["id"]!, fields["token"]), 409);
      }
    }),
});

export const APPROVAL_ROUTES = [readDraftPage, readDraftHtml, decideOnDraft];

/** What a link leads to. */
interface Opened {
  row: DraftRow;
  org: OrgRecord;
  inbox: Inbox;
  /** Whether the link belongs to the draft as it stands. */
  isCurrent: boolean;
}

/**
 * Reads a store only for what has the form of a link.
 * @throws RelayError `link_expired` for every link that leads nowhere, whyever; `org_suspended`
 */
async function open(
  services: ApprovalServices,
  draftId: string,
  token: unknown,
): Promise<Opened> {
  const { store, records, drafts, secret, inboxes, limits } = services;
  const ulid = draftId.slice("dft_".length);
  if (!isMailId("dft", draftId) || typeof token !== "string" || !isTokenOf(ulid, token)) {
    throw linkExpired();
  }
  const owner = await store.get<DraftOwnerRow>(draftOwnerKey(draftId));
  if (owner.value === null) throw linkExpired();
  const { orgId, inboxId } = owner.value;
  const row = await drafts.read({ orgId, inboxId, id: draftId });
  const key = await secret.key("mail-link");
  const nowMs = store.now();
  const link = row?.asked?.links
    .find(({ revision }) => isDraftToken(key, token, ulid, revision));
  if (row === null || link === undefined || link.untilMs <= nowMs) throw linkExpired();
  const org = await records.read<OrgRecord>(orgKey(orgId));
  const inbox = await inboxes.byId(orgId, inboxId);
  const isTheirs = org !== null && inbox !== null && org.verifiedEmail === row.asked!.email &&
    orgState(org, nowMs, limits) === "verified";
  if (!isTheirs) throw linkExpired();
  if (org.suspendedAtMs !== null) {
    throw new RelayError(
      "org_suspended",
      "the operator of this relay has suspended the org: nothing can be decided until that ends",
    );
  }
  // What a person reads is what goes out, also of a draft from before it had to be approved.
  const current = await drafts.asItGoesOut(row, true);
  if (current.asked === null) throw linkExpired(); // it needs no approval any more
  return { row: current, org, inbox, isCurrent: link.revision === current.revision };
}

async function openCurrent(
  services: ApprovalServices,
  draftId: string,
  token: string,
): Promise<DraftRow> {
  const { row, isCurrent } = await open(services, draftId, token);
  if (!isCurrent) throw linkExpired();
  return row;
}

/**
 * The same for a session in the mailbox, which sees what its key may read.
 * @throws RelayError `link_expired` without a session, or for a draft that is none of it
 */
async function openBySession(
  { sessions, drafts, store, limits }: ApprovalServices,
  draftId: string,
  headers: Headers,
): Promise<DraftRow> {
  const session = await sessions.findIn(headers);
  if (session === null || refusalOf("read", session.caller.key) !== null) throw linkExpired();
  requireOpen(session.caller.org, store.now(), limits, false);
  return await drafts.asItGoesOut(await drafts.find(session.caller, draftId));
}

async function show(
  services: ApprovalServices,
  c: MailRequest["c"],
  { row, inbox, isCurrent }: Opened,
  status: number,
): Promise<Response> {
  const { store, records, drafts, composer, messages, secret, answers, domain } = services;
  const { texts, section } = await drafts.whole(row);
  const preview = await composer.preview(section, row.orgId);
  const keys = (await records.read<KeysRecord>(keysKey(row.orgId)))?.keys ?? [];
  const { inReplyToMessageId: repliedId, orgId, inboxId } = row;
  const replied = repliedId === null ? null : await messages.read(orgId, inboxId, repliedId);
  const key = await secret.key("mail-link");
  const size = (preview.text?.length ?? 0) + (preview.extracted?.length ?? 0) +
    preview.otherLinks.length;
  // The holder of a link counts as an agent: strangers' pages must not keep a person from deciding.
  if (size > LARGE_ANSWER_BYTES) c.set("reservation", answers.reserve(size, "agent"));
  return await answerDraft(
    {
      row,
      from: { name: inbox.displayName, address: `${inbox.localPart}@${domain}` },
      preview,
      headers: texts.headers,
      keyPrefix: keys.find(({ id }) => id === row.createdByKey)?.prefix ?? null,
      answers: repliedId === null ? null : replied ?? "gone",
      missing: missingOf(row, texts),
      nowMs: store.now(),
    },
    {
      token: linkToken(key, "draft", row.id.slice("dft_".length), String(row.revision)),
      isStale: !isCurrent,
    },
    status,
  );
}

async function decide(
  services: ApprovalServices,
  { params }: MailRequest,
  fields: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const { drafts, store } = services;
  const { token, action } = fields;
  const { row, org, inbox, isCurrent } = await open(services, params["id"]!, token);
  if (action !== "approve" && action !== "reject") {
    throw invalidJson("the form field action must be approve or reject");
  }
  if (!isCurrent) throw draftChanged(row.revision);
  if (action === "reject") {
    await drafts.discard(null, row, (current) => {
      if (current === null) throw linkExpired();
      if (current.revision !== row.revision) throw draftChanged(current.revision);
    });
    return await answerRejected();
  }
  await sendDraft(services, { org, key: null }, inbox, row, { gone: linkExpired });
  return await answerSent({ row }, row.sendAtMs !== null && row.sendAtMs > store.now());
}

/**
 * Refuses a form from another site's page. For our pages, which send no referrer, browsers say "null".
 * @throws RelayError `forbidden`
 */
function refuseForeignOrigin(headers: Headers, baseUrl: string): void {
  const origin = headers.get("origin");
  if (origin === null || origin === "null" || origin === baseUrl) return;
  const host = headers.get("host")?.toLowerCase();
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new RelayError("forbidden", "a draft is decided on from its own page alone");
}
