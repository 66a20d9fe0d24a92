/** Drafts as a part of the mail area, with the mails that ask a person to approve them. */
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import type { Propose } from "../sending/acceptance.ts";
import type { MailSessions } from "../sessions/mail_sessions.ts";
import type { SenderPart } from "../sending/part.ts";
import { approvalDelivery } from "./approval_delivery.ts";
import { APPROVAL_ROUTES } from "./approval_routes.ts";
import { Drafts } from "./drafts.ts";
import { proposeDraft } from "./propose_draft.ts";
import { DRAFT_ROUTES } from "./routes.ts";

export interface DraftsPart extends Part {
  propose: Propose;
}

export function openDrafts(
  core: MailCore,
  senderPart: SenderPart,
  sessions: MailSessions,
): DraftsPart {
  const { outgoing, mailer, deps: { config: { mail: { connections } } } } = core;
  const drafts = new Drafts({ ...core, ...senderPart });
  if (mailer !== undefined) {
    outgoing.register(approvalDelivery({ ...core, drafts, mailer, connections }));
  }
  const services = { ...core, ...senderPart, drafts, sessions };
  return {
    propose: (...asked) => proposeDraft(drafts, ...asked),
    routes: [...mount(DRAFT_ROUTES, services), ...mount(APPROVAL_ROUTES, services)],
  };
}
