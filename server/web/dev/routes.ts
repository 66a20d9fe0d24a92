/** /dev/mail: what local mode captured, for people and for programs (docs/operations.md). */
import type { Context } from "hono";
import type { Deps } from "../../base/parts/deps.ts";
import { RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { choice, integer, readQuery, text } from "../../base/http/fields/query.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import type { CapturedMail, CapturedMails } from "./captured_mails.ts";
import { attachmentHeaders } from "../../mail/mailbox/messages/file_headers.ts";
import { composeAnswer } from "./compose_answer.ts";
import { composePlainMail, newMailStamp } from "./compose_plain_mail.ts";
import type { HandedIn, HandIn, MailToHandIn } from "./hand_in.ts";
import {
  answerBytes,
  answerLocalMailbox,
  answerProgram,
  LOCAL_HEADERS,
  localRoute,
} from "./local_route.ts";
import { answerFrame } from "./html_frame.ts";
import { LocalStream } from "./local_stream.ts";
import { handInPage, mailPage, type NoticeName, VIEW_NAMES } from "./mail_page.ts";
import { readFile } from "./read_file.ts";
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

const QUERY = {
  view: choice(VIEW_NAMES, "all"),
  q: text(),
  write: choice(["1"], undefined),
  notice: text(),
};
const FILE_QUERY = { n: integer(0, 1_000, 0) };

export interface CapturePages {
  routes: Route[];
  /** Ends the pages' streams. */
  endWaits(): void;
}

/** Mounted in local mode alone: elsewhere these paths are unknown. */
export function localRoutes(services: LocalRouteServices): CapturePages {
  const { mails, baseUrl, domain, now } = services;
  const stream = new LocalStream();
  const unfollow = mails.follow(() => stream.tell());
  const route = localRoute(baseUrl, "the captured mail");

  function find(c: Context<HttpEnv>): CapturedMail {
    const mail = mails.findByKey(c.get("path").split("/")[3]!);
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

  async function show(c: Context<HttpEnv>, asked?: CapturedMail): Promise<Response> {
    const { view, q = "", write, notice = null } = readQuery(c.get("query"), QUERY);
    if (c.get("head")) return answerLocalMailbox("");
    if (write !== undefined) return answerLocalMailbox(await handInPage(domain));
    const { everything } = mails;
    const facts = { everything, asked, view, q, domain, told: notice, nowMs: now() };
    return answerLocalMailbox(await mailPage(facts));
  }

  const routes = [
    route("GET", PATH, async (c) => {
      if (namesHtml(c.req.raw)) return await show(c);
      return answerProgram({ data: mails.newestFirst.map(rowOf), next_cursor: null });
    }),
    route("GET", `${PATH}/{n}`, async (c) => {
      const mail = find(c);
      return namesHtml(c.req.raw) ? await show(c, mail) : answerProgram(detailOf(mail));
    }),
    route("GET", `${PATH}/{n}/raw`, (c) => answerBytes(find(c).raw)),
    route("GET", `${PATH}/{n}/html`, (c) => answerFrame(find(c))),
    route("GET", `${PATH}/{n}/file`, async (c) => {
      const mail = find(c);
      const { n } = readQuery(c.get("query"), FILE_QUERY);
      const file = await readFile(mail.raw, n);
      if (file === null) {
        throw new RelayError("not_found", "the captured mail has no such attachment");
      }
      return answerWhole(file.bytes, { headers: { ...LOCAL_HEADERS, ...attachmentHeaders(file) } });
    }),
    route("GET", "/dev/live", (c) => stream.answer(c.get("head"))),
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
      if (mail.result === "received" || mail.result === "rejected") throw notOurs();
      const handedIn = await give(await composeAnswer(as, mail, text, newMailStamp(services)));
      return isForm ? seePage(`${PATH}/${mail.key}`, as) : answerProgram(handedIn);
    }),
  ];
  return {
    routes,
    endWaits() {
      unfollow();
      stream.close();
    },
  };
}

function notOurs(): RelayError {
  return new RelayError(
    "not_found",
    "this mail came in: who answers it is the agent whose inbox it is in, by POST /v1/mail/messages/{id}/reply",
  );
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
