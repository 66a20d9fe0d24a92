/** Routes of drafts under /v1/mail; what a person decides on is approval_routes.ts. */
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Blobs } from "../../base/blobs/blobs.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import type { AnswerBudget } from "../../base/http/answers/answer_budget.ts";
import { answerWhole, LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import { fingerprintOf } from "../../base/idempotency/idempotency_key.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { maySee } from "../access/access.ts";
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import type { ListPages } from "../access/list_pages.ts";
import type { KeyedRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import type { MailboxTransaction } from "../core/mailboxes.ts";
import type { Messages } from "../mailbox/messages/messages.ts";
import { type DraftRow, writerOf } from "../records/draft_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { hideRecipients } from "../sending/hide_recipients.ts";
import { giveKeyed, type KeyedAnswers } from "../mailbox/answers/keyed_answers.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import { refuseTrial } from "../sending/routes.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { readDraftPage } from "./draft_pages.ts";
import type { Drafts, WholeDraft } from "./drafts.ts";
import { draftChanged, type SendDraft } from "./send_draft.ts";
import { draftFor } from "../mailbox/shown/shown_draft.ts";

export interface DraftRouteServices {
  store: Store;
  drafts: Drafts;
  sendDraft: SendDraft;
  inboxes: Inboxes;
  messages: Pick<Messages, "read">;
  keyedAnswers: KeyedAnswers;
  composer: Pick<MailWorker, "readRequest">;
  pages: ListPages;
  blobs: Pick<Blobs, "refuseWhenFull">;
  answers: AnswerBudget;
  limits: Limits;
  now: () => number;
}

export function draftHandlers(services: DraftRouteServices) {
  const { store, drafts, sendDraft, inboxes, messages, keyedAnswers, pages, limits, now } =
    services;

  const read = <K extends "draft" | "draft_changes">(
    kind: K,
    body: Uint8Array,
    org: { id: string },
  ) => services.composer.readRequest(kind, body, { limits, nowMs: now() }, false, org.id);

  /** @param isDone where the answer tells of what has been committed, and cannot be refused any more */
  function show(
    { c, key }: Pick<KeyedRequest, "c" | "key">,
    { row, texts }: WholeDraft,
    status: number,
    isDone: boolean,
  ): Response {
    const body = new TextEncoder().encode(JSON.stringify(draftFor(key, row, texts)));
    if (body.length > LARGE_ANSWER_BYTES) {
      const { answers } = services;
      c.set(
        "reservation",
        isDone ? answers.reserveAnyway(body.length) : answers.reserve(body.length, "agent"),
      );
    }
    return answerWhole(body, { status, headers: { ...JSON_HEADERS, ...NO_STORE } });
  }

  async function requireMessage(orgId: string, inboxId: string, messageId: string): Promise<void> {
    const isThere = isMailId("msg", messageId) &&
      await messages.read(orgId, inboxId, messageId) !== null;
    if (!isThere) throw unknownObject("message");
  }

  /** Steps 6 to 11 of mail_route.ts; the body is read in its place unless that is done. */
  async function send(
    request: KeyedRequest,
    body: () => Promise<JsonObject>,
    keyed?: NonNullable<Parameters<SendDraft["send"]>[3]>["keyed"],
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { org, key, params } = request;
    const row = await drafts.find(request, params["id"]!);
    const inbox = await inboxes.find(request, row.inboxId);
    refuseTrial(org);
    const isBound = key.scope === "inbox";
    if (isBound) refuseDraftOnly(inbox);
    const revision = readRevision(await body());
    if (revision === null && inbox.sendPolicy === "draft_only") {
      throw invalidJson("revision is required here: the one of the draft that you have read");
    }
    const current = await drafts.asItGoesOut(await drafts.read(row) ?? gone());
    if (revision !== null && revision !== current.revision) throw draftChanged(current.revision);
    const sent = () =>
      sendDraft.send(request, inbox, current, {
        ...(keyed === undefined ? {} : { keyed }),
        gone: () => unknownObject("draft"),
        require: (given: MailboxTransaction) => {
          if (isBound) refuseDraftOnly(given.inbox);
        },
      });
    return maySee(key, writerOf(current)) ? await sent() : await hideRecipients(sent);
  }

  return {
    async createMailDraft(request) {
      const { org, params, confirm } = request;
      const inbox = await inboxes.find(request, params["id"]!);
      const body = await request.bytes();
      const { request: asked } = await read("draft", body, org);
      await confirm(); // the worker may have been busy
      const { inReplyToMessageId } = asked;
      if (inReplyToMessageId !== null) await requireMessage(org.id, inbox.id, inReplyToMessageId);
      const made = await drafts.create(request, inbox.id, {
        ...asked,
        headers: [],
        isOfOneKey: true,
      });
      return show(request, made, made.isNew ? 201 : 200, made.isNew);
    },
    async listMailDrafts(request) {
      const { c, org, key, params } = request;
      const inbox = await inboxes.find(request, params["id"]!);
      const page = await pages.read(c, { org: org.id, key_inbox: key.inboxId, inbox: inbox.id });
      const after = page.after === null ? null : page.after[0] as string;
      const { json, last, more } = await readDraftPage(
        store,
        { orgId: org.id, inboxId: inbox.id },
        { after, limit: page.limit, maxBytes: limits.pageBytes },
      );
      const sizeBytes = json.reduce((sum, one) => sum + one.length, 0);
      if (sizeBytes > LARGE_ANSWER_BYTES) {
        c.set("reservation", services.answers.reserve(sizeBytes, "agent"));
      }
      return page.answerJson(json, more ? [last!] : null);
    },
    async readMailDraft(request) {
      const row = await drafts.asItGoesOut(await drafts.find(request, request.params["id"]!));
      return show(request, await drafts.whole(row), 200, false);
    },
    async updateMailDraft(request) {
      const { org, params, confirm } = request;
      const row = await drafts.find(request, params["id"]!);
      const body = await request.bytes();
      const { request: changes } = await read("draft_changes", body, org);
      await confirm();
      if (Object.keys(changes).length === 0) {
        return show(request, await drafts.whole(await drafts.asItGoesOut(row)), 200, false);
      }
      const changed = await drafts.change(request, row, changes);
      return show(request, changed, 200, true);
    },
    async discardMailDraft(request) {
      await drafts.discard(request, await drafts.find(request, request.params["id"]!));
      return noContent();
    },
    async sendMailDraft(request) {
      const key = keyedAnswers.keyOf(request);
      if (key === null) {
        const sent = () => send(request, () => request.body({}));
        return giveKeyed(await keyedAnswers.once(null, null, sent));
      }
      // The stored answer comes first: the draft is gone by then.
      const asked = await request.body({});
      return giveKeyed(
        await keyedAnswers.once(
          key,
          fingerprintOf(asked),
          (keyed) => send(request, () => Promise.resolve(asked), keyed),
        ),
      );
    },
  } satisfies MailHandlers;
}

function gone(): DraftRow {
  throw unknownObject("draft");
}

/** @throws RelayError `approval_required` */
function refuseDraftOnly({ sendPolicy }: { sendPolicy: string }): void {
  if (sendPolicy !== "draft_only") return;
  throw new RelayError(
    "approval_required",
    "a draft of this inbox goes out when a person approves it, by the link that they were mailed, or with an org-scoped key",
  );
}

/** @throws RelayError `invalid_json` */
function readRevision({ revision = null }: JsonObject): number | null {
  if (revision === null) return null;
  if (typeof revision === "number" && Number.isSafeInteger(revision) && revision > 0) {
    return revision;
  }
  throw invalidJson("revision must be that of the draft, a whole number from 1");
}
