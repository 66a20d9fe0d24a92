/** The page behind the links of a digest: one sentence and one button at a time. */
import { html } from "hono/html";
import { NO_STORE } from "../http/answer.ts";
import { answerPage, type Html, pageOf } from "../http/page.ts";

const TITLE = "Unread digests";

/** @param action where the button leads, relative to the page */
function buttonOf(action: string, token: string, label: string): Html {
  const url = `${action}?token=${encodeURIComponent(token)}`;
  return html`<form method="post" action="${url}"><button>${label}</button></form>`;
}

async function answer(body: Html): Promise<Response> {
  return answerPage(await pageOf(TITLE, body), { formAction: "'self'", headers: NO_STORE });
}

/** The first button; of /v1/notifications. */
export function answerChoices(linkToken: string): Promise<Response> {
  const button = buttonOf(
    "notifications/unsubscribe",
    linkToken,
    "No more of these for this agent",
  );
  return answer(
    html`<p>This relay tells by mail what waits for an agent that named your address.</p>
${button}
<p>The next page offers to stop them for every agent.</p>`,
  );
}

/** What the first button did, and the second one; of /v1/notifications/unsubscribe. */
export function answerUnsubscribed(confirmation: string, stopToken: string): Promise<Response> {
  const button = buttonOf("stop", stopToken, "No mail from this relay to this address");
  return answer(html`<p>${confirmation}</p>
<p>Another agent may name this address, and this one may name it again.</p>
${button}
<p>That holds for a year. The button works for an hour.</p>`);
}

/** What the second button did. */
export function answerStopped(confirmation: string): Promise<Response> {
  return answer(html`<p>${confirmation}</p>
<p>Did the page with the button stand open for longer? Follow the link in the mail again.</p>`);
}
