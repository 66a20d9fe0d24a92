/**
 * /verify: the offline verifier inside a page that says what it is good for here. The file itself,
 * /verify/verify.html, is byte for byte the one of the repository, under a policy of its own hashes.
 */
import { createHash } from "node:crypto";
import { html } from "hono/html";
import { madeOnce } from "../../base/bounds/made_once.ts";
import { fixContent } from "../../base/http/answers/fixed_content.ts";
import { fixPage, KEPT_PAGE_HEADERS } from "../../base/pages/answer_page.ts";
import { COPY_SCRIPT, EMBED_SCRIPT } from "../../base/pages/asset_files.ts";
import { codeBlock } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { Reading, Readings } from "./docs_routes.ts";

const FILE = "/verify/verify.html";
/** The script of the file, for pages that show a message. */
const SCRIPT = "/verify/verify.js";
const POLICY = "Content-Security-Policy";

export function verifyReadings(): Readings {
  const load = madeOnce(loadVerifier);
  return new Map([
    ["/verify", async () => (await load()).page],
    [FILE, async () => (await load()).file],
    [SCRIPT, async () => (await load()).script],
  ]);
}

async function loadVerifier(): Promise<Record<"page" | "file" | "script", Reading>> {
  const { default: text } = await import("../../../docs/verify.html", { with: { type: "text" } });
  const hash = createHash("sha256").update(text).digest("hex");
  const own = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)![1]!;
  const readingOf = async (content: string, policy: string): Promise<Reading> => ({
    content: await fixPage(content),
    headers: { ...KEPT_PAGE_HEADERS, [POLICY]: policy },
  });
  return {
    page: await readingOf(await verifyPage(hash), `${KEPT_PAGE_HEADERS[POLICY]}; frame-src 'self'`),
    // What the file's own policy says, and that only the relay's page may show it.
    file: await readingOf(text, `${own}; frame-ancestors 'self'`),
    script: {
      content: await fixContent(
        /<script>([^]*)<\/script>/.exec(text)![1]!,
        "text/javascript; charset=utf-8",
      ),
      headers: KEPT_PAGE_HEADERS,
    },
  };
}

function verifyPage(hash: string): Promise<string> {
  return frame(
    "Check a message",
    html`
      <div class="notice warning">
        <p><strong>Good for a look, not for proof:</strong> this copy comes from
      the relay, which is no witness for what it delivered. For proof save the file, compare its SHA-256 with the
      one in a place that you trust, such as the project's repository, and open the saved file.</p>
        <p class="actions"><a class="button" href="${FILE}" download="verify.html">Save the file</a>
      <a class="button secondary" href="/docs/verify">What a signature proves</a></p>
        <details><summary>SHA-256 of the file, as this relay says</summary>
      ${codeBlock(hash)}
      <p>After saving: <code>sha256sum verify.html</code></p></details>
      </div>
      <noscript><p class="notice">The check is made by a script in the browser, and scripts are turned off here.</p></noscript>
      <iframe class="embedded" src="${FILE}" title="The verifier" height="900"></iframe>
    `,
    { section: "/verify", scripts: [EMBED_SCRIPT, COPY_SCRIPT] },
  );
}
