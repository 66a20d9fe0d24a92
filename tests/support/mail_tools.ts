/** Mail through tools: a verified org, and a caller of its tools without any client library. */
import assert from "node:assert/strict";
import { handIn, type InboundOptions, mailText } from "./inbound_mail.ts";
import { accepted, type MailKeyHolder, newOrg } from "./mail_caller.ts";
import { claimLink, follow } from "./mail_links.ts";
import type { TestRelay } from "./relay.ts";
import { callTool, type ToolArgs, type ToolResult } from "./tool_client.ts";

export const MAIL_TOOLS_PATH = "/mcp/mail";

/** The tools there in their order, for every test that counts them. */
export const MAIL_TOOL_NAMES = [
  "create_inbox",
  "check_inbox",
  "read_thread",
  "send_email",
  "reply_to_message",
  "search_mail",
] as const;

/** One call with an API key as an argument. */
export async function callMail(
  holder: Pick<MailKeyHolder, "url" | "key">,
  name: string,
  args: ToolArgs = {},
): Promise<ToolResult> {
  return await callTool(holder.url, name, { api_key: holder.key, ...args }, {}, MAIL_TOOLS_PATH);
}

/** A call that must be accepted. @returns its result */
export async function mailDone(
  holder: Pick<MailKeyHolder, "url" | "key">,
  name: string,
  args: ToolArgs = {},
): Promise<ToolResult> {
  const result = await callMail(holder, name, args);
  assert.equal(result.isError, false, result.text);
  return result;
}

/** An org that may send, by the holder of its first key. */
export async function verifiedOrg(relay: TestRelay): Promise<MailKeyHolder> {
  const holder = await newOrg(relay);
  const email = `${holder.orgId.toLowerCase()}@example.org`;
  accepted(await follow(relay, await claimLink(relay, holder.key, email)), 200);
  return holder;
}

/** Mail from outside, as mailText() makes it unless raw is given. */
export async function receive(
  relay: TestRelay,
  to: string,
  options: Parameters<typeof mailText>[0] & Partial<Pick<InboundOptions, "from" | "raw">> = {},
): Promise<void> {
  const timestamp = Math.floor(relay.clock.now() / 1000);
  const raw = options.raw ?? mailText(options);
  const from = options.from === undefined ? {} : { from: options.from };
  accepted(await handIn(relay.url, { ...from, to: [to], raw, timestamp }), 200);
}
