/** The tools of the mail area, in the specification's order (4.7). */
import type { Tool } from "../../base/tool_server/tool.ts";
import { type CheckInboxServices, checkInboxTool } from "./check_inbox.ts";
import { type CreateInboxServices, createInboxTool } from "./create_inbox.ts";
import type { MailCall } from "./mail_call.ts";
import { type ReadThreadServices, readThreadTool } from "./read_thread.ts";
import { type ReplyServices, replyTool } from "./reply_to_message.ts";
import { type SearchMailServices, searchMailTool } from "./search_mail.ts";
import { sendEmailTool } from "./send_email.ts";

export type MailToolServices =
  & CreateInboxServices
  & CheckInboxServices
  & ReadThreadServices
  & ReplyServices
  & SearchMailServices;

export function mailTools(services: MailToolServices): Tool<MailCall>[] {
  return [
    createInboxTool(services),
    checkInboxTool(services),
    readThreadTool(services),
    sendEmailTool(services),
    replyTool(services),
    searchMailTool(services),
  ];
}
