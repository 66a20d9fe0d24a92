/** Everything of drafts, put together. */
import type { OutgoingQueue } from "../../outgoing/outgoing_queue.ts";
import { approvalHandlers, type ApprovalRouteServices } from "./approval_routes.ts";
import { APPROVAL_MAIL_KIND } from "./ask_approval.ts";
import { draftHandlers, type DraftRouteServices } from "./routes.ts";
import { SendDraft, type SendDraftServices } from "./send_draft.ts";

export type DraftParts =
  & Omit<DraftRouteServices, "sendDraft" | "wake">
  & Omit<ApprovalRouteServices, "sendDraft">
  & SendDraftServices
  & { wake(): void };

export function openDrafts(parts: DraftParts) {
  const services = { ...parts, sendDraft: new SendDraft(parts) };
  return { handlers: { ...draftHandlers(services), ...approvalHandlers(services) } };
}

/** Has the mails go that a commit has just queued. */
export function approvalWaker(
  outgoing: Pick<OutgoingQueue, "wake">,
  { now }: { now: () => number },
): () => void {
  return () => outgoing.wake({ kind: APPROVAL_MAIL_KIND, dueMs: now() });
}
