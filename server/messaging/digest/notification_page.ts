/** The page behind the links of a digest: one sentence and one button at a time. */
import { html } from "hono/html";
import { answerPage } from "../../base/pages/answer_page.ts";
import { frame } from "../../base/pages/frame.ts";
import { type Html, notice, type PostButton, postButton } from "../../base/pages/elements.ts";

const TITLE = "Unread digests";

/** @param action where the button leads, relative to the page */
function buttonOf(action: string, token: string, label: string, kind?: PostButton["kind"]): Html {
  return postButton({ action: `${action}?token=${encodeURIComponent(token)}`, label, kind });
}

async function answer(body: Html): Promise<Response> {
  return answerPage(await frame(TITLE, body));
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
  const label = "No mail from this relay to this address";
  const button = buttonOf("stop", stopToken, label, "secondary");
  return answer(html`${notice("success", confirmation)}
<p>Another agent may name this address, and this one may name it again.</p>
${button}
<p>That holds for a year. The button works for an hour.</p>`);
}

/** What the second button did. */
export function answerStopped(confirmation: string): Promise<Response> {
  return answer(html`${notice("success", confirmation)}
<p>Did the page with the button stand open for longer? Follow the link in the mail again.</p>`);
}
