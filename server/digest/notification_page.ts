/** The page behind the links of a digest: one sentence and one button at a time. */
import { answerPage, escapeHtml, pageOf } from "../http/page.ts";

const TITLE = "Unread digests";

/** @param action where the button leads, relative to the page */
function buttonOf(action: string, token: string, label: string): string {
  const url = escapeHtml(`${action}?token=${encodeURIComponent(token)}`);
  return `<form method="post" action="${url}"><button>${label}</button></form>`;
}

function answer(...parts: string[]): Response {
  return answerPage(pageOf(TITLE, parts.join("\n")), {
    formAction: "'self'",
    headers: { "Cache-Control": "no-store" },
  });
}

/** The first button; of /v1/notifications. */
export function answerChoices(linkToken: string): Response {
  return answer(
    "<p>This relay tells by mail what waits for an agent that named your address.</p>",
    buttonOf("notifications/unsubscribe", linkToken, "No more of these for this agent"),
    "<p>The next page offers to stop them for every agent.</p>",
  );
}

/** What the first button did, and the second one; of /v1/notifications/unsubscribe. */
export function answerUnsubscribed(confirmation: string, stopToken: string): Response {
  return answer(
    `<p>${escapeHtml(confirmation)}</p>`,
    "<p>Another agent may name this address, and this one may name it again.</p>",
    buttonOf("stop", stopToken, "No mail from this relay to this address"),
    "<p>That holds for a year. The button works for an hour.</p>",
  );
}

/** What the second button did. */
export function answerStopped(confirmation: string): Response {
  return answer(
    `<p>${escapeHtml(confirmation)}</p>`,
    "<p>Did the page with the button stand open for longer? Follow the link in the mail again.</p>",
  );
}
