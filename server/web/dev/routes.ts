/** /dev/mail: what local mode captured, for people and for programs (docs/operations.md). */
import type { Context } from "hono";
import type { Deps } from "../../base/parts/deps.ts";
import { RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import type { CapturedMail, CapturedMails } from "./captured_mails.ts";
import { composeAnswer } from "./compose_answer.ts";
import { composePlainMail } from "./compose_plain_mail.ts";
import type { HandedIn, HandIn, MailToHandIn } from "./hand_in.ts";
import {
  answerBytes,
  answerPerson,
  answerProgram,
  LOCAL_HEADERS,
  localRoute,
  numberIn,
} from "./local_route.ts";
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
/** Whom a mail without a sender is from, in its header. */
const NULL_SENDER = { name: "Mail Delivery System", address: "mailer-daemon@sender.test" };

/** Mounted in local mode alone: elsewhere these paths are unknown. */
export function localRoutes(services: LocalRouteServices): Route[] {
  const { mails, baseUrl, domain } = services;
  const route = localRoute(baseUrl, "the captured mail");

  function find(c: Context<HttpEnv>): CapturedMail {
    const number = numberIn(c);
    const mail = number === undefined ? undefined : mails.find(number);
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
        return answerPerson(await mailListPage(newestFirst, domain, noticeOf(c)));
      }
      return answerProgram({ data: newestFirst.map(rowOf), next_cursor: null });
    }),
    route("GET", `${PATH}/{n}`, async (c) => {
      const mail = find(c);
      return namesHtml(c.req.raw)
        ? answerPerson(await mailPage(mail, noticeOf(c)))
        : answerProgram(detailOf(mail));
    }),
    route("GET", `${PATH}/{n}/raw`, (c) => answerBytes(find(c).raw)),
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
      return isForm ? seePage(PATH, "handed_in") : answerProgram(handedIn);
    }),
    route("POST", `${PATH}/{n}/answer`, async (c) => {
      const mail = find(c);
      const { fields, isForm } = await read(c, ["as", "text"]);
      const { as, text } = readAnswerRequest(fields);
      const handedIn = await give(await composeAnswer(as, mail, text, newMailStamp(services)));
      return isForm ? seePage(`${PATH}/${mail.number}`, as) : answerProgram(handedIn);
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
  const headers = { ...LOCAL_HEADERS, Location: `${path}?notice=${told}` };
  return new Response(null, { status: 303, headers });
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
