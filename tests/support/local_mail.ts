/** Mail that is handed in by local mode, and what inboxes have of it. */
import { type Answer, ask } from "./answer.ts";
import { accepted, type MailKeyHolder } from "./mail_caller.ts";

export const FORM = "application/x-www-form-urlencoded";
/** The result for an unchecked sender, without its domain. */
export const NO_AUTH = { spf: "none", dkim: "none", dmarc: "none", arc: "none", verdict: "none" };

/** POSTs JSON as a program does. */
export function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** POSTs what a form of the page would. */
export function postForm(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { "Content-Type": FORM, Accept: "text/html", Origin: new URL(url).origin },
    body: String(new URLSearchParams(fields)),
  });
}

/** An inbox's messages with their texts, the oldest first. */
// deno-lint-ignore no-explicit-any -- JSON whose shape the test at hand asserts
export async function messagesOf(holder: MailKeyHolder, inboxId: string): Promise<any[]> {
  const path = `/v1/mail/inboxes/${inboxId}/messages?order=asc`;
  const { data } = accepted(await holder.ask("GET", path), 200);
  const whole = [];
  for (const { id } of data) {
    whole.push(accepted(await holder.ask("GET", `/v1/mail/messages/${id}`), 200));
  }
  return whole;
}
