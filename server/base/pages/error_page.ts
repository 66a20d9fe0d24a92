/** A refusal as a page for people; with the status and headers of the JSON that programs get. */
import { html } from "hono/html";
import type { RelayError } from "../errors.ts";
import { refusalHeaders } from "../http/answers/answer.ts";
import { answerPage } from "./answer_page.ts";
import { factList, refusalNotice } from "./elements.ts";
import { frame } from "./frame.ts";

const TITLES: Readonly<Record<number, string>> = {
  400: "The request is not understood",
  401: "This needs a credential",
  403: "This is not allowed",
  404: "Nothing is here",
  405: "This cannot be done here",
  408: "The request took too long",
  413: "The request is too large",
  429: "Too many requests",
  500: "The relay failed",
  503: "The relay cannot answer now",
};

/**
 * The message, its code, the request id and the ways on.
 * @param error whose message reaches the wire as it stands
 */
export async function answerErrorPage(error: RelayError, requestId: string): Promise<Response> {
  const { code, status, message } = error;
  const title = TITLES[status] ?? "The request was refused";
  const page = await frame(
    title,
    html`${refusalNotice(message)}
<p class="actions"><a class="button" href="/">To the start page</a>
<a class="button secondary" href="/docs">Documentation</a></p>
<h2>Details for the relay's operator</h2>
${
      factList([
        ["Status", String(status)],
        ["Code", html`<code>${code}</code>`],
        ["Request id", html`<code class="copy">${requestId}</code>`],
      ])
    }`,
  );
  return answerPage(page, { status, headers: refusalHeaders(error) });
}
