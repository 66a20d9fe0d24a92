import { html } from "hono/html";
import { notice } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { isPlainLoopback } from "../../base/pages/own_origin.ts";

/** The one field that leads to the operator's pages. */
export function signInPage(
  { baseUrl, isWrong }: { baseUrl: string; isWrong: boolean },
): Promise<string> {
  const isReadable = baseUrl.startsWith("http:") && !isPlainLoopback(baseUrl);
  const warning = isReadable
    ? notice(
      "warning",
      html`This relay is at <code>${baseUrl}</code>, without TLS: browsers keep no session there, and the
token can be read on the way. Open the page on the relay's own machine, or through a tunnel.`,
    )
    : "";
  // deno-fmt-ignore
  const [state, wrong] = isWrong
    ? [
      html` aria-invalid="true" aria-describedby="token-hint token-error"`,
      html`<p class="field-error" id="token-error">This is not the token. It is the value of RELAY_ADMIN_TOKEN.</p>`,
    ]
    : [html` aria-describedby="token-hint"`, ""];
  return frame(
    "Operator",
    html`
      <p class="lead">For whoever runs this relay.</p>
      ${warning}
      <form method="post" action="/admin/sign-in">
        <div class="field"><label for="token">Admin token</label>
      <input id="token" name="token" type="password" autocomplete="current-password" required${state}>
      <span class="hint" id="token-hint">The value of <code>RELAY_ADMIN_TOKEN</code>. The session lasts an hour.</span>
      ${wrong}</div>
        <button>Sign in</button>
      </form>
    `,
  );
}
