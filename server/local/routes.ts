/** /dev/mail: what local mode captured, for people and for programs (mail page, "Local mode"). */
import type { Context } from "hono";
import type { JsonObject } from "../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../errors.ts";
import { answerJson } from "../http/answer.ts";
import { readObject } from "../http/json_body.ts";
import { answerWhole } from "../http/large_answer.ts";
import { namesHtml } from "../http/names_html.ts";
import { readBody } from "../http/read_body.ts";
import type { HttpEnv, Route } from "../http/route.ts";
import { cleanLine } from "../http/text_fields.ts";
import { answerPage } from "../pages/answer_page.ts";
import { refuseStrangers } from "./access.ts";
import type { CapturedMail, CapturedMails } from "./captured_mails.ts";
import { mailListPage, mailPage } from "./mail_page.ts";

export interface LocalRouteServices {
  mails: CapturedMails;
  /** Origin of the relay's links. */
  baseUrl: string;
  /** Of the inboxes. */
  domain: string;
}

const PATH = "/dev/mail";
/** Kept by nobody, and loaded into no page of another. */
const HEADERS = {
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};
const BODY_BYTES = 256 * 1024;
const LINE_CODE_POINTS = 998;
const ANSWERS = ["reply", "bounce", "out_of_office"];

/** Mounted in local mode alone: elsewhere these paths are unknown. */
export function localRoutes({ mails, baseUrl, domain }: LocalRouteServices): Route[] {
  type LocalHandler = (c: Context<HttpEnv>) => Response | Promise<Response>;
  const route = (method: Route["method"], path: string, handle: LocalHandler): Route => ({
    method,
    path,
    page: true,
    cors: "none",
    ...(method === "POST" ? { body: { limitBytes: BODY_BYTES, pool: "mail" } } : {}),
    handle(c) {
      refuseStrangers(c.req.raw.headers, baseUrl);
      return handle(c);
    },
  });

  function find(c: Context<HttpEnv>): CapturedMail {
    const number = c.get("path").split("/")[3]!;
    const mail = /^[1-9][0-9]{0,14}$/.test(number) ? mails.find(Number(number)) : undefined;
    if (mail !== undefined) return mail;
    throw new RelayError(
      "not_found",
      "no captured mail has this number: the newest are kept until the relay stops; GET /dev/mail lists them",
    );
  }

  async function readRequest(c: Context<HttpEnv>): Promise<JsonObject> {
    return readObject(await readBody(c));
  }

  return [
    route("GET", PATH, async (c) => {
      const newestFirst = mails.newestFirst;
      if (namesHtml(c.req.raw)) return answerHtml(await mailListPage(newestFirst, domain));
      return answer({ data: newestFirst.map(rowOf), next_cursor: null });
    }),
    route("GET", `${PATH}/{n}`, async (c) => {
      const mail = find(c);
      return namesHtml(c.req.raw) ? answerHtml(await mailPage(mail)) : answer(detailOf(mail));
    }),
    route("GET", `${PATH}/{n}/raw`, (c) =>
      answerWhole(find(c).raw, {
        // Shown as text, whatever it holds.
        headers: { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" },
      })),
    route("POST", PATH, async (c) => {
      requireMail(await readRequest(c));
      throw notYet();
    }),
    route("POST", `${PATH}/{n}/answer`, async (c) => {
      find(c);
      requireAnswer(await readRequest(c));
      throw notYet();
    }),
  ];
}

/** @throws RelayError `invalid_json` */
function requireMail({ from, to, subject, text }: JsonObject): void {
  if (from !== "" && !isAddress(from)) {
    throw invalidJson("from must be an e-mail address, or empty for the null sender");
  }
  if (!isAddress(to)) throw invalidJson("to must be the e-mail address of an inbox");
  cleanLine("subject", subject, LINE_CODE_POINTS);
  if (typeof text !== "string") throw invalidJson("text must be a string");
}

/** @throws RelayError `invalid_json` */
function requireAnswer({ as }: JsonObject): void {
  if (typeof as === "string" && ANSWERS.includes(as)) return;
  throw invalidJson(`as must be one of ${ANSWERS.join(", ")}`);
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && value.length <= 254 &&
    /^[\x21-\x3f\x41-\x7e]{1,64}@[A-Za-z0-9.-]+$/.test(value);
}

function notYet(): RelayError {
  return new RelayError(
    "mail_disabled",
    "this version of the relay receives no mail yet, so that none can be handed in here; what it sends is at GET /dev/mail",
  );
}

function answer(value: unknown): Response {
  return answerJson(value, 200, { ...HEADERS, Vary: "Accept" });
}

function answerHtml(page: string): Response {
  return answerPage(page, { headers: { ...HEADERS, Vary: "Accept" } });
}

function rowOf({ number, atMs, from, to, result, raw, content }: CapturedMail) {
  const { subject, links, codes } = content;
  return {
    n: number,
    at: new Date(atMs).toISOString(),
    envelope: { from, to: [to] },
    result,
    subject,
    links,
    codes,
    size: raw.length,
  };
}

function detailOf(mail: CapturedMail) {
  const { from, to, text, isCut, hasHtml, attachments } = mail.content;
  return {
    ...rowOf(mail),
    from,
    to,
    text,
    text_cut: isCut,
    has_html: hasHtml,
    attachments,
  };
}
