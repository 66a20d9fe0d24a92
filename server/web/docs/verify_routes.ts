/**
 * /verify: the offline verifier inside a page that says what it is good for here. The file itself,
 * /verify/verify.html, is byte for byte the one of the repository, under a policy of its own hashes.
 */
import { createHash } from "node:crypto";
import { html } from "hono/html";
import {
  answerFixed,
  fixContent,
  type FixedContent,
} from "../../base/http/answers/fixed_content.ts";
import { FIXED_PAGE_HEADERS, PAGE_POLICY } from "../../base/pages/answer_page.ts";
import { COPY_SCRIPT, EMBED_SCRIPT } from "../../base/pages/asset_files.ts";
import { codeBlock } from "../../base/pages/code_block.ts";
import { frame } from "../../base/pages/frame.ts";
import { readingRoute } from "./reading_route.ts";

interface Verifier {
  file: FixedContent;
  page: FixedContent;
  /** What the file's own policy says, and that only the relay's page may show it. */
  policy: string;
}

const FILE = "/verify/verify.html";
const HTML = "text/html; charset=utf-8";

interface VerifyServices {
  verifier: () => Promise<Verifier>;
}

/** Loaded when it is first asked for, and kept. */
export function createVerifier(): VerifyServices["verifier"] {
  let loading: Promise<Verifier> | undefined;
  return () =>
    loading ??= loadVerifier().catch((error) => {
      loading = undefined;
      throw error;
    });
}

const readVerify = readingRoute({
  path: "/verify",
  id: "readVerify",
  summary: "Check a message in the browser",
  description:
    "The offline verifier inside a page that says what a copy from the relay is good for. " +
    "`#from=ADDRESS` fills in a sender; no server is told of it.",
  types: ["text/html"],
  handle: ({ verifier }: VerifyServices) => async (c) => {
    return answerFixed(c.req.raw, (await verifier()).page, {
      ...FIXED_PAGE_HEADERS,
      "Content-Security-Policy": `${PAGE_POLICY}; frame-src 'self'`,
    });
  },
});

const readVerifier = readingRoute({
  path: FILE,
  id: "readVerifier",
  summary: "The offline verifier as a file",
  description:
    "Byte for byte the file of the project's repository, to be saved and used without a " +
    "network.",
  types: ["text/html"],
  handle: ({ verifier }: VerifyServices) => async (c) => {
    const { file, policy } = await verifier();
    return answerFixed(c.req.raw, file, {
      ...FIXED_PAGE_HEADERS,
      "Content-Security-Policy": policy,
    });
  },
});

export const VERIFY_ROUTES = [readVerify, readVerifier];

async function loadVerifier(): Promise<Verifier> {
  const { default: text } = await import("../../../docs/verify.html", { with: { type: "text" } });
  const hash = createHash("sha256").update(text).digest("hex");
  const own = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)![1]!;
  return {
    file: await fixContent(text, HTML),
    page: await fixContent(await verifyPage(hash), HTML),
    policy: `${own}; frame-ancestors 'self'`,
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
