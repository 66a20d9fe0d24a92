/** How a route of local mode is declared and answers: for this machine alone, kept by nobody. */
import type { Context } from "hono";
import { answerJson } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import { answerPage } from "../../base/pages/answer_page.ts";
import { answerMailbox } from "../mailbox/mailbox_frame.ts";
import { refuseStrangers } from "./access.ts";

type LocalHandler = (c: Context<HttpEnv>) => Response | Promise<Response>;

/** Kept by nobody, and loaded into no page of another. */
export const LOCAL_HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
const BODY_BYTES = 256 * 1024;

/**
 * @param baseUrl origin of the relay's links
 * @param what is there, for those who are refused
 */
export function localRoute(baseUrl: string, what: string) {
  return (method: Route["method"], path: string, handle: LocalHandler): Route => ({
    method,
    path,
    page: true,
    cors: "none",
    ...(method === "POST" ? { body: { limitBytes: BODY_BYTES, pool: "mail" } } : {}),
    handle(c) {
      refuseStrangers(c.req.raw.headers, baseUrl, what);
      return handle(c);
    },
  });
}

/** A number as paths have it; undefined for what is none. */
export function numberIn(c: Context<HttpEnv>): number | undefined {
  const number = c.get("path").split("/")[3]!;
  return /^[1-9][0-9]{0,14}$/.test(number) ? Number(number) : undefined;
}

/** Where the same path has a page. */
export function answerProgram(value: unknown): Response {
  return answerJson(value, 200, { ...LOCAL_HEADERS, Vary: "Accept" });
}

/** Its forms are POSTed to routes that check their Origin. */
export function answerPerson(page: string, headers: Record<string, string> = {}): Response {
  const { "Referrer-Policy": _, ...kept } = LOCAL_HEADERS;
  return answerPage(page, {
    referrerPolicy: "same-origin",
    headers: { ...kept, Vary: "Accept", ...headers },
  });
}

/** The same, of a page in the mailbox's look. @param page as mailboxFrame() makes it */
export function answerLocalMailbox(page: string): Response {
  const { "Referrer-Policy": _, ...kept } = LOCAL_HEADERS;
  return answerMailbox(page, { headers: { ...kept, Vary: "Accept" } });
}

/** What came from outside, shown as text whatever it holds. */
export function answerBytes(content: Uint8Array<ArrayBuffer>): Response {
  const headers = { ...LOCAL_HEADERS, "Content-Type": "text/plain; charset=utf-8" };
  return answerWhole(content, { headers });
}
