/** /dev/mail: what local mode captured, for people and for programs (docs/operations.md). */
import type { Context } from "hono";
import type { Deps } from "../../base/parts/deps.ts";
import { RelayError } from "../../base/errors.ts";
import { answerJson } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import { answerPage } from "../../base/pages/answer_page.ts";
import { refuseStrangers } from "./access.ts";
import type { CapturedMail, CapturedMails } from "./captured_mails.ts";
import { composeAnswer } from "./compose_answer.ts";
import { composePlainMail } from "./compose_plain_mail.ts";
import type { HandedIn, HandIn, MailToHandIn } from "./hand_in.ts";
import { mailListPage, mailPage, type NoticeName } from "./mail_page.ts";
import { newMailStamp } from "./mail_stamp.ts";
import {
  readAnswerRequest,
  readFields,
  readMailRequest,
  type RequestFields,
} from "./read_request.ts";

export interface LocalRouteServices extends Pick<Deps, "now" | "random"> {
  mails: CapturedMails;
  /** Origin of the relay's links. */
  baseUrl: string;
  /** Domain of the inboxes. */
  domain: string;
  /** Null where the mail area is off. */
  handIn: HandIn | null;
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
/** Whom a mail without a sender is from, in its header. */
const NULL_SENDER = { name: "Mail Delivery System", address: "mailer-daemon@sender.test" };

/** Mounted in local mode alone: elsewhere these paths are unknown. */
export function localRoutes(services: LocalRouteServices): Route[] {
  const { mails, baseUrl, domain } = services;
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

  async function read(c: Context<HttpEnv>, names: readonly string[]): Promise<RequestFields> {
    return readFields(c.req.raw, await readBody(c), names);
  }

  async function give(mail: MailToHandIn): Promise<HandedIn> {
    if (services.handIn === null) throw mailOff();
    const handedIn = await services.handIn(mail);
    if (handedIn.accepted.length === 0) throw nobodyTook(handedIn, domain);
    return handedIn;
  }

  return [
    route("GET", PATH, async (c) => {
      const newestFirst = mails.newestFirst;
      if (namesHtml(c.req.raw)) {
        return answerHtml(await mailListPage(newestFirst, domain, noticeOf(c)));
      }
      return answer({ data: newestFirst.map(rowOf), next_cursor: null });
    }),
    route("GET", `${PATH}/{n}`, async (c) => {
      const mail = find(c);
      return namesHtml(c.req.raw)
        ? answerHtml(await mailPage(mail, noticeOf(c)))
        : answer(detailOf(mail));
    }),
    route("GET", `${PATH}/{n}/raw`, (c) =>
      answerWhole(find(c).raw, {
        // Shown as text, whatever it holds.
        headers: { ...HEADERS, "Content-Type": "text/plain; charset=utf-8" },
      })),
    route("POST", PATH, async (c) => {
      const { fields, isForm } = await read(c, ["from", "to", "subject", "text"]);
      const { from, to, subject, text } = readMailRequest(fields);
      const raw = await composePlainMail({
        from: from === "" ? NULL_SENDER : { name: "", address: from },
        to: [to],
        subject,
        text,
      }, newMailStamp(services));
      const handedIn = await give({ from, to: [to], raw });
      return isForm ? seePage(PATH, "handed_in") : answer(handedIn);
    }),
    route("POST", `${PATH}/{n}/answer`, async (c) => {
      const mail = find(c);
      const { fields, isForm } = await read(c, ["as", "text"]);
      const { as, text } = readAnswerRequest(fields);
      const handedIn = await give(await composeAnswer(as, mail, text, newMailStamp(services)));
      return isForm ? seePage(`${PATH}/${mail.number}`, as) : answer(handedIn);
    }),
  ];
}

function mailOff(): RelayError {
  return new RelayError(
    "mail_disabled",
    "the mail area is off here, so that nothing receives mail: start-up says why; what the relay sends is at GET /dev/mail",
  );
}

/** Explains each reason why no inbox took the mail; addresses are not repeated. */
function nobodyTook({ rejected }: HandedIn, domain: string): RelayError {
  const reasons: Readonly<Record<string, string>> = {
    not_found:
      `there is no inbox of this name (they are at ${domain}, and made by POST /v1/mail/inboxes)`,
    blocked: "the lists of the inbox refuse this sender (block_receive, allow_receive)",
    org_suspended: "the inbox's org is suspended",
  };
  const codes = [...new Set(rejected.map(({ code }) => code))];
  const why = codes.map((code) => Object.hasOwn(reasons, code) ? reasons[code] : code).join("; ");
  return new RelayError("not_found", `nobody took the mail: ${why}`);
}

function noticeOf(c: Context<HttpEnv>): string | null {
  return new URLSearchParams(c.get("query")).get("notice");
}

/** Back to a page, so that loading it again hands in nothing. @param told what the page says */
function seePage(path: string, told: NoticeName): Response {
  const headers = { ...HEADERS, Location: `${path}?notice=${told}` };
  return new Response(null, { status: 303, headers });
}

function answer(value: unknown): Response {
  return answerJson(value, 200, { ...HEADERS, Vary: "Accept" });
}

/** Its forms are POSTed to routes that check their Origin. */
function answerHtml(page: string): Response {
  const { "Referrer-Policy": _, ...headers } = HEADERS;
  return answerPage(page, {
    referrerPolicy: "same-origin",
    headers: { ...headers, Vary: "Accept" },
  });
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
