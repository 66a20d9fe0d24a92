/** POST /v1/mail/drafts/{id}/send (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { fingerprintOf } from "../../base/idempotency/idempotency_key.ts";
import { maySee } from "../access/access.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { unknownObject } from "../access/unknown_object.ts";
import {
  giveKeyed,
  type KeyedAnswers,
  type KeyedWork,
  readKeyHeader,
} from "../mailbox/answers/keyed_answers.ts";
import { Message, MessageMarks } from "../mailbox/shown/schemas.ts";
import { type DraftRow, writerOf } from "../records/draft_record.ts";
import { refuseTrial } from "../sending/acceptance.ts";
import { hideRecipients } from "../sending/hide_recipients.ts";
import { acceptedAs, KEY_ERRORS, KeyHeader, SEND_ERRORS } from "../sending/schemas.ts";
import { draftChanged, sendDraft, type SendDraftServices } from "./send_draft.ts";

interface SendServices extends SendDraftServices {
  keyedAnswers: KeyedAnswers;
}

const SendRequest = z.object({
  revision: z.int().min(1).nullable().optional().openapi({
    description: "The one that you have read; required on a `draft_only` inbox.",
  }),
}).openapi("MailDraftSendRequest");

export const NO_DRAFT = "the org has no such draft, or the key is for another inbox";
/** Refusals of requests that write a draft. */
export const WRITTEN = {
  rate_limited: "the org has written as many bytes as it may for now",
  unavailable: "the disk is full, or the org has no room",
};

export const sendMailDraft = keyRoute({
  method: "POST",
  path: "/v1/mail/drafts/{id}/send",
  id: "sendMailDraft",
  may: "write",
  summary: "Send a draft",
  note: "With a human's approval. The draft is deleted.",
  words: {
    description:
      "Sends a draft; it is gone then. On a `draft_only` inbox an org-scoped key sends " +
      "it, with the revision that was read, and an inbox-scoped key does not.\n\nAs when a message " +
      "is sent, it is one commit: the draft is sent, or still there.",
    headers: KeyHeader,
    body: { description: "May be empty.", schema: SendRequest, optional: true },
    answers: acceptedAs("The message as accepted.", z.union([Message, MessageMarks])),
    errors: {
      not_found: NO_DRAFT,
      trial_org_cannot_send: null,
      approval_required: "the inbox is draft_only, and the key is for it alone",
      draft_changed: null,
      ...KEY_ERRORS,
      ...SEND_ERRORS,
    },
  },
  handle: (services: SendServices) => async (request) => {
    const { keyedAnswers } = services;
    const key = readKeyHeader(request);
    if (key === null) {
      const sent = () => send(services, request, () => request.body({}));
      return giveKeyed(await keyedAnswers.once(null, null, sent));
    }
    // The stored answer comes first: the draft is gone by then.
    const asked = await request.body({});
    return giveKeyed(
      await keyedAnswers.once(
        key,
        fingerprintOf(asked),
        (keyed) => send(services, request, () => Promise.resolve(asked), keyed),
      ),
    );
  },
});

/** Steps 6 to 11 of mail_route.ts; the body is read in its place unless that is done. */
async function send(
  services: SendServices,
  request: KeyedRequest,
  body: () => Promise<JsonObject>,
  keyed?: KeyedWork,
): Promise<Uint8Array<ArrayBuffer>> {
  const { drafts, inboxes } = services;
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
    sendDraft(services, request, inbox, current, {
      ...(keyed === undefined ? {} : { keyed }),
      gone: () => unknownObject("draft"),
      require: (given) => {
        if (isBound) refuseDraftOnly(given.inbox);
      },
    });
  return maySee(key, writerOf(current)) ? await sent() : await hideRecipients(sent);
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
