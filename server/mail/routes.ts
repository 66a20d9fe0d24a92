/** Every route of the mail area, in the order in which a reader meets them. */
import {
  EVENT_ROUTES,
  FIGURE_ROUTES,
  GOOGLE_ROUTES,
  MESSAGE_ROUTES,
  ORG_ROUTES,
  RECEIVING_ROUTES,
  SEARCH_ROUTES,
  SIGN_IN_ROUTES,
  SUSPENSION_ROUTES,
  THREAD_ROUTES,
  TOOL_ROUTES,
} from "./former_routes.ts";
import { APPROVAL_ROUTES } from "./drafts/approval_routes.ts";
import { DRAFT_ROUTES } from "./drafts/routes.ts";
import { INBOX_ROUTES } from "./mailbox/inboxes/routes.ts";
import { KEY_ROUTES } from "./keys/routes.ts";
import type { MailDeclaration } from "./access/mail_route.ts";
import { ANSWERING_ROUTES, SEND_ROUTES } from "./sending/routes.ts";
import { SUPPRESSION_ROUTES } from "./mailbox/suppressions/routes.ts";
import { WEBHOOK_ROUTES } from "./webhooks/webhook_routes.ts";

/** The description of the API has them so, and the area answers 503 at them where it is off. */
export const MAIL_ROUTES: readonly MailDeclaration[] = [
  ...ORG_ROUTES,
  ...GOOGLE_ROUTES,
  ...SIGN_IN_ROUTES,
  ...INBOX_ROUTES,
  ...SEND_ROUTES,
  ...MESSAGE_ROUTES,
  ...ANSWERING_ROUTES,
  ...THREAD_ROUTES,
  ...SEARCH_ROUTES,
  ...DRAFT_ROUTES,
  ...FIGURE_ROUTES,
  ...KEY_ROUTES,
  ...WEBHOOK_ROUTES,
  ...SUPPRESSION_ROUTES,
  ...RECEIVING_ROUTES,
  ...EVENT_ROUTES,
  ...SUSPENSION_ROUTES,
  ...APPROVAL_ROUTES,
  ...TOOL_ROUTES,
];
