import { html } from "hono/html";
import { column, mailboxFrame } from "../mailbox/mailbox_frame.ts";
import { isPlainLoopback } from "../../base/pages/own_origin.ts";

/** The one field that leads to an inbox. @param action where its form goes */
export function inboxSignInPage(
  { action, baseUrl, isWrong }: { action: string; baseUrl: string; isWrong: boolean },
): Promise<string> {
  const isReadable = baseUrl.startsWith("http:") && !isPlainLoopback(baseUrl);
  // deno-fmt-ignore
  const warning = isReadable
    ? html`<p class="note warn">This relay is at <code>${baseUrl}</code>, without TLS: browsers keep no session there, and
the token can be read on the way.</p>`
    : "";
  // deno-fmt-ignore
  const [state, wrong] = isWrong
    ? [
      html` aria-invalid="true" aria-describedby="token-hint token-error"`,
      html`<p class="note bad" id="token-error">No agent of this relay has this token: it may have been replaced.</p>`,
    ]
    : [html` aria-describedby="token-hint"`, ""];
  // deno-fmt-ignore
  const content = html`<p>What has come for your agent, and whether it is what was signed.</p>
${warning}<form method="post" action="${action}">
<div class="field"><label for="token">Your agent’s token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required${state}>
<span class="hint" id="token-hint">The <code>owner_token</code> that its registration gave (<code>rt_owner_...</code>), or the
token of its tools (<code>rt_mcp_...</code>). You paste it once; the session lasts 12 hours, and ends when the token is
replaced.</span>
${wrong}</div>
<button class="primary">Open the inbox</button></form>
<details><summary>I have no token any more</summary>
<p>Whoever holds the agent’s key makes a new one, and the old one ends:</p>
<pre class="whole">POST /v1/owner-token</pre>
<p><a href="/docs">How to sign a request</a></p></details>`;
  return mailboxFrame(
    { title: "Inbox", homeHref: "/", nav: [], search: null, keys: [] },
    column("Inbox", content, { isNarrow: true }),
  );
}
