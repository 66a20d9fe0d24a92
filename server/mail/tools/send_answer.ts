/** What send_email and reply_to_message answer. */
import { Buffer } from "node:buffer";
import * as z from "zod";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { ToolAnswer } from "../../base/tool_server/tool.ts";
import type { ToolArguments } from "../../base/tool_server/tool_arguments.ts";
import type { Quotation } from "../../base/tool_server/untrusted_text.ts";
import { IDEMPOTENCY_KEY } from "./page_arguments.ts";
import type { GivenRequest } from "../sending/acceptance.ts";
import { DELETED } from "../mailbox/shown/shown_message.ts";
import { type KeyedAnswer, keyFor } from "../mailbox/answers/keyed_answers.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import { type MailCall, refuseOwnKey } from "./mail_call.ts";

export const sendSchema = z.strictObject({
  status: z.enum(["queued", "pending_approval"]),
  message: z.looseObject({ id: z.string(), thread_id: z.string() }).optional(),
  draft: z.looseObject({ id: z.string() }).optional(),
});

/** Parts of a message that its sender knows, and that may be long. */
const TEXTS = ["text", "html", "extracted_text", "headers", "links"];

/**
 * The arguments as the body of a REST request; "" and null count as absent.
 * @param object what the message is about: under one idempotency_key it may not change
 */
export function givenRequest(
  caller: MailCaller,
  given: ToolArguments,
  call: MailCall,
  { tool, object, fields }: { tool: string; object: JsonObject; fields: readonly string[] },
): GivenRequest {
  return {
    key() {
      const value = given.filledString("idempotency_key", IDEMPOTENCY_KEY);
      if (value === undefined) return null;
      return keyFor(caller, { method: "POST", path: tool }, value, "idempotency_key");
    },
    body() {
      const body: JsonObject = { ...object };
      for (const field of fields) {
        const value = given.raw(field);
        if (value === undefined || value === null || value === "") continue;
        refuseOwnKey(field, value, given, call);
        body[field] = value as JsonObject[string];
      }
      return Promise.resolve(new TextEncoder().encode(JSON.stringify(body)));
    },
  };
}

/**
 * The answer of the REST API without its texts, and the same in prose.
 * @param quotation of the addresses, where others chose them
 */
export function sendAnswer(
  { body }: Pick<KeyedAnswer, "body">,
  quotation: Quotation | null,
): ToolAnswer<z.infer<typeof sendSchema>> {
  const answer = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  if (answer.status === "pending_approval") {
    const draft = withoutTexts(answer.draft);
    return {
      structured: { status: "pending_approval", draft },
      text:
        `Nothing has been sent yet: the message waits as draft ${draft.id} until a person approves it. Do not ` +
        `send it again. See later with check_inbox inbox_id=${
          draft["inbox_id"]
        } direction=all whether it went out.`,
    };
  }
  const message = withoutTexts(answer);
  if (answer.parse_warnings.includes(DELETED)) {
    return {
      structured: { status: "queued", message },
      text:
        `Accepted before as message ${message.id}, which has been deleted since. Do not send it again.`,
    };
  }
  const recipients: { address: string }[] = answer.recipients;
  const addresses = recipients.map(({ address }) => address);
  const told = quotation === null
    ? `${addresses.join(", ")}. `
    : `the addresses below. ${quotation.notice}\n${quotation.quote(addresses.join("\n"))}\n`;
  return {
    structured: { status: "queued", message },
    text:
      `Accepted as message ${message.id} of thread ${
        message["thread_id"]
      }, to be delivered to ${told}` +
      `See whether it was delivered with read_thread thread_id=${
        message["thread_id"]
      }, and look for an answer ` +
      `with check_inbox inbox_id=${message["inbox_id"]}.`,
  };
}

function withoutTexts(object: JsonObject): JsonObject & { id: string; thread_id: string } {
  const kept = Object.entries(object).filter(([name]) => !TEXTS.includes(name));
  return Object.fromEntries(kept) as JsonObject & { id: string; thread_id: string };
}
