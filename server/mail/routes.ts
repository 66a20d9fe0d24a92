/** Every route of the mail area, in reading order. */
import type { MailDeclaration } from "./access/mail_route.ts";
import { APPROVAL_ROUTES } from "./drafts/approval_routes.ts";
import { DRAFT_ROUTES } from "./drafts/routes.ts";
import { FIGURE_ROUTES } from "./figures/routes.ts";
import { KEY_ROUTES } from "./keys/routes.ts";
import { INBOX_ROUTES } from "./mailbox/inboxes/routes.ts";
import { MESSAGE_ROUTES } from "./mailbox/messages/message_routes.ts";
import { THREAD_ROUTES } from "./mailbox/messages/thread_routes.ts";
import { SUPPRESSION_ROUTES } from "./mailbox/suppressions/routes.ts";
import { EVENT_ROUTES } from "./receiving/reports/routes.ts";
import { RECEIVING_ROUTES } from "./receiving/routes.ts";
import { SEARCH_ROUTES } from "./search/routes.ts";
import { TOOL_ROUTES } from "./tools/routes.ts";
import { ANSWERING_ROUTES, SEND_ROUTES } from "./sending/routes.ts";
import { CLAIM_ROUTES } from "./sign_in/claim_routes.ts";
import { GOOGLE_ROUTES } from "./sign_in/google/routes.ts";
import { MAGIC_ROUTES } from "./sign_in/magic_routes.ts";
import { ORG_ROUTES, SUSPENSION_ROUTES } from "./orgs/routes.ts";
import { WEBHOOK_ROUTES } from "./webhooks/routes.ts";

/** The description of the API has them so, and the area answers 503 at them where it is off. */
export const MAIL_ROUTES: readonly MailDeclaration[] = [
  ...ORG_ROUTES,
  ...GOOGLE_ROUTES,
  ...MAGIC_ROUTES,
  ...CLAIM_ROUTES,
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
