/** The tool create_inbox: POST /v1/mail/inboxes. */
import * as z from "zod";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { readInboxRequest } from "../mailbox/inboxes/inbox_request.ts";
import { shownInbox } from "../records/inbox_record.ts";
import { orgState } from "../records/org_record.ts";
import {
  apiKeyArgument,
  type MailCall,
  type MailToolServices,
  refuseOwnKey,
  requireMailCaller,
} from "./mail_call.ts";

const LOCAL_PART = "what stands before the @";
const DISPLAY_NAME = "the sender's name that recipients see";

export function createInboxTool(
  { authenticator, inboxes, mailboxes, freeDisk, limits, now, domain }: MailToolServices,
): Tool<MailCall> {
  return defineTool({
    name: "create_inbox",
    title: "Create an e-mail inbox",
    description:
      `Makes an e-mail inbox at ${domain} that receives mail at once; without local_part the relay makes up an address. ` +
      "Addresses are never given out twice. Takes an org-scoped API key with inbox:write. At most " +
      `${limits.mailInboxesPerOrg} inboxes an org, ${limits.mailInboxesPerTrial} in a trial. Returns the inbox with its id and address.`,
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    input: z.strictObject({
      api_key: apiKeyArgument,
      local_part: z.string().max(64).describe("a-z, 0-9, ., _ and -").optional(),
      display_name: z.string().max(100).optional(),
    }),
    output: z.strictObject({
      inbox: z.looseObject({
        id: z.string(),
        address: z.string(),
        send_policy: z.enum(["direct", "draft_only"]),
      }),
    }),
    async run(given, call) {
      const caller = await requireMailCaller(authenticator, given, call, "orgWrite");
      const { org } = caller;
      const request: JsonObject = {};
      const localPart = given.filledString("local_part", LOCAL_PART);
      const displayName = given.filledString("display_name", DISPLAY_NAME);
      if (localPart !== undefined) request["local_part"] = localPart;
      if (displayName !== undefined) request["display_name"] = displayName;
      refuseOwnKey("display_name", displayName, given, call);
      const asked = readInboxRequest(request);
      await freeDisk.refuseWhenFull();
      const { inbox } = await inboxes.create(caller, asked);
      const { unread } = await mailboxes.read(org.id, inbox.id);
      const shown = shownInbox(inbox, domain, orgState(org, now(), limits), unread);
      return {
        structured: { inbox: shown },
        text: `Created the inbox ${shown.id} with the address ${shown.address}, send_policy ` +
          `${shown.send_policy}. See what comes with check_inbox inbox_id=${shown.id}; ${
            org.trialEndsAtMs === null
              ? `write with send_email inbox_id=${shown.id}.`
              : "a trial only receives: to write, have the person you work for claim the org."
          }`,
      };
    },
  });
}
