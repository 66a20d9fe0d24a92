/** Drafts as a part of the mail area, with the mails that ask a person to approve them. */
import type { MailPart } from "../core/mail_base.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import type { SenderPart } from "../sending/part.ts";
import type { Proposals } from "../sending/proposals.ts";
import { approvalDelivery } from "./approval_delivery.ts";
import { approvalHandlers } from "./approval_routes.ts";
import { APPROVAL_MAIL_KIND } from "./ask_approval.ts";
import { Drafts } from "./drafts.ts";
import { proposeDraft } from "./propose_draft.ts";
import { draftHandlers } from "./routes.ts";
import { SendDraft } from "./send_draft.ts";

export interface DraftsPart extends MailPart {
  proposals: Proposals;
}

export function openDrafts(core: MailCore, senderPart: SenderPart): DraftsPart {
  const { outgoing, mailer, now, deps: { config: { mail: { connections } } } } = core;
  const drafts = new Drafts({ ...core, ...senderPart });
  if (mailer !== undefined) {
    outgoing.register(approvalDelivery({ ...core, drafts, mailer, connections }));
  }
  /** Has the mails go that a commit has just queued. */
  const wake = () => outgoing.wake({ kind: APPROVAL_MAIL_KIND, dueMs: now() });
  const parts = { ...core, ...senderPart, drafts, wake };
  const services = { ...parts, sendDraft: new SendDraft(parts) };
  return {
    proposals: { propose: (...asked) => proposeDraft({ drafts, wake }, ...asked) },
    handlers: { ...draftHandlers(services), ...approvalHandlers(services) },
  };
}
