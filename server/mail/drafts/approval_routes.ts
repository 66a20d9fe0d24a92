/** GET and POST /mail/drafts/{id}: a person reads a draft with its HTML in a frame, and approves or rejects it. */
import { invalidJson, RelayError } from "../../base/errors.ts";
import { answerError } from "../../base/http/answers/answer.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import type { AnswerBudget } from "../../base/http/answers/answer_budget.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { readForm, requireForm } from "../../base/http/fields/form_body.ts";
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import type { MailRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import type { Messages } from "../mailbox/messages/messages.ts";
import { draftOwnerKey, type DraftOwnerRow, type DraftRow } from "../records/draft_record.ts";
import type { Inbox } from "../records/inbox_record.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import { linkExpired } from "../records/link_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import type { ComposeWorker } from "../worker/compose_worker.ts";
import { isDraftToken, isTokenOf, linkToken, tokenOf } from "../access/link_token.ts";
import type { Blobs } from "../../base/blobs/blobs.ts";
import { answerHtml, shownPictures, writeShownHtml } from "./answer_html.ts";
import { answerDraft, answerGone, answerRejected, answerSent } from "./approval_page.ts";
import { missingOf } from "./draft_message.ts";
import type { Drafts } from "./drafts.ts";
import { draftChanged, type SendDraft } from "./send_draft.ts";

export interface ApprovalRouteServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  drafts: Drafts;
  sendDraft: SendDraft;
  inboxes: Inboxes;
  messages: Pick<Messages, "read">;
  work: Pick<ComposeWorker, "preview">;
  /** Has the mails go that ask people. */
  wake(): void;
  blobs: Pick<Blobs, "read">;
  secret: Pick<MailSecret, "key">;
  answers: AnswerBudget;
  limits: Limits;
  domain: string;
  baseUrl: string;
}

/** What a link leads to. */
interface Opened {
  row: DraftRow;
  org: OrgRecord;
  inbox: Inbox;
  /** Whether the link is that of the draft as it stands. */
  isCurrent: boolean;
}

const FORM_FIELDS = ["token", "action"] as const;

export function approvalHandlers(services: ApprovalRouteServices) {
  const { store, records, drafts, sendDraft, inboxes, messages, limits } = services;

  /**
   * Reads a store only for what has the form of a link.
   * @throws RelayError `link_expired` for every link that leads nowhere, whyever; `org_suspended`
   */
  async function open(draftId: string, token: unknown): Promise<Opened> {
    const ulid = draftId.slice("dft_".length);
    if (!isMailId("dft", draftId) || typeof token !== "string" || !isTokenOf(ulid, token)) {
      throw linkExpired();
    }
    const owner = await store.get<DraftOwnerRow>(draftOwnerKey(draftId));
    if (owner.value === null) throw linkExpired();
    const { orgId, inboxId } = owner.value;
    const row = await drafts.read({ orgId, inboxId, id: draftId });
    const key = await services.secret.key("mail-link");
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
    if (current.revision !== row.revision) services.wake();
    if (current.asked === null) throw linkExpired(); // nobody has to approve it any more
    return { row: current, org, inbox, isCurrent: link.revision === current.revision };
  }

  async function show(
    c: MailRequest["c"],
    { row, inbox, isCurrent }: Opened,
    status: number,
  ): Promise<Response> {
    const { texts } = await drafts.whole(row);
    const section = await services.blobs.read(row.texts, 0);
    const preview = await services.work.preview(section, row.orgId);
    const keys = (await records.read<KeysRecord>(keysKey(row.orgId)))?.keys ?? [];
    const { inReplyToMessageId: repliedId, orgId, inboxId } = row;
    const replied = repliedId === null ? null : await messages.read(orgId, inboxId, repliedId);
    const key = await services.secret.key("mail-link");
    const size = (preview.text?.length ?? 0) + (preview.extracted?.length ?? 0) +
      preview.otherLinks.length;
    // Who has the link is somebody: strangers' pages keep nobody from deciding.
    if (size > LARGE_ANSWER_BYTES) c.set("reservation", services.answers.reserve(size, "agent"));
    return await answerDraft(
      {
        row,
        from: { name: inbox.displayName, address: `${inbox.localPart}@${services.domain}` },
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

  async function decide({ params }: MailRequest, fields: Readonly<Record<string, unknown>>) {
    const { token, action } = fields;
    const { row, org, inbox, isCurrent } = await open(params["id"]!, token);
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
    await sendDraft.send({ org, key: null }, inbox, row, { gone: linkExpired });
    return await answerSent({ row }, row.sendAtMs !== null && row.sendAtMs > store.now());
  }

  return {
    readDraftPage: ({ c, params }) =>
      linkAnswer(c.req.raw, async () => {
        const opened = await open(params["id"]!, tokenOf(c.get("query")));
        return await show(c, opened, 200);
      }),
    readDraftHtml: ({ c, params }) =>
      linkAnswer(c.req.raw, async () => {
        const { row, isCurrent } = await open(params["id"]!, tokenOf(c.get("query")));
        if (!isCurrent) throw linkExpired();
        const html = (await drafts.whole(row)).texts.html ?? "";
        const pictures = [];
        for (const picture of shownPictures(html, row.attachments)) {
          const content = await services.blobs.read(row.files!, picture.section);
          pictures.push({ ...picture, content });
        }
        const shown = writeShownHtml(html, pictures);
        if (shown.length > LARGE_ANSWER_BYTES) {
          c.set("reservation", services.answers.reserve(shown.length, "agent"));
        }
        return answerHtml(shown);
      }),
    decideOnDraft: (request) =>
      linkAnswer(request.c.req.raw, async () => {
        const { c, params } = request;
        refuseForeignOrigin(c.req.raw.headers, services.baseUrl);
        requireForm(c.req.raw, FORM_FIELDS);
        const fields = readForm(await readBody(c), FORM_FIELDS);
        try {
          return await decide(request, fields);
        } catch (error) {
          // Nothing was done: people are shown what it says now.
          const isChanged = error instanceof RelayError && error.code === "draft_changed";
          if (!isChanged || !namesHtml(c.req.raw)) throw error;
          return await show(c, await open(params["id"]!, fields["token"]), 409);
        }
      }),
  } satisfies MailHandlers;
}

/** The answer of a link, or that it leads nowhere: a page for who takes pages; kept by nobody. */
async function linkAnswer(request: Request, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== "link_expired") throw error;
    if (namesHtml(request)) return await answerGone();
    const refusal = answerError(error);
    refusal.headers.set("Cache-Control", "no-store");
    return refusal;
  }
}

/**
 * A form of another site's page. Browsers say "null" for ours, which tell nobody where they are.
 * @throws RelayError `forbidden`
 */
function refuseForeignOrigin(headers: Headers, baseUrl: string): void {
  const origin = headers.get("origin");
  if (origin === null || origin === "null" || origin === baseUrl) return;
  const host = headers.get("host")?.toLowerCase();
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw new RelayError("forbidden", "a draft is decided on from its own page alone");
}
