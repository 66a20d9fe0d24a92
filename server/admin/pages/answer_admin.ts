/** The operator's pages as answers: kept by nobody, found by no search engine. */
import { answerPage, pageHeaders } from "../../pages/answer_page.ts";

const NO_INDEX = { "X-Robots-Tag": "noindex, nofollow" };

/** @param page as frame() makes it */
export function answerAdmin(page: string, { status = 200 } = {}): Response {
  return answerPage(page, { status, referrerPolicy: "same-origin", headers: NO_INDEX });
}

/** Where a form leads when it was done: reloading that page sends nothing again. */
export function seeOther(path: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...pageHeaders("same-origin"), ...NO_INDEX, ...headers, Location: path },
  });
}
