/** How links of mails are answered, whatever they do, and what the description says of all of them. */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Content, Operation } from "../../base/description/operation.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { namesType } from "../../base/http/answers/names_type.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { isForm, readForm } from "../../base/http/fields/form_body.ts";
import { type MailRequest, openRoute } from "../access/mail_route.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { answerLink, tokenOf, tokenQuery } from "../access/link_answer.ts";
import { type LinkKind, openLinkToken } from "../access/link_token.ts";
import { cleanEmail, refuseOwnDomain } from "../records/email_address.ts";
import { linkExpired } from "../records/link_record.ts";
import { answerExpired, answerSuspended } from "./link_pages.ts";

/** A link that works, before it is followed. */
export interface Waiting {
  /** The page with the button that follows it. */
  ask(): Promise<Response>;
  /**
   * Whether a GET has to ask for it by name: it makes somebody else the owner of an org, or opens one that
   * no reader of the address has opened yet, chosen perhaps by a stranger who asked for the link.
   */
  isAskedByName: boolean;
}

export type LinkFields = Readonly<Record<string, unknown>>;

/** What links of some kinds do. */
export interface LinkActions {
  kinds: readonly LinkKind[];
  /** What a link would do; nothing is spent. @throws RelayError `link_expired` */
  look(services: MailCore, id: string, token: string): Promise<Waiting>;
  /** Does what a button or a program asks of a link. */
  follow(services: MailCore, fields: LinkFields, asPage: boolean): Promise<Response>;
}

/** Headers of every answer to a link. */
export const LINK_HEADERS = { ...NO_STORE, "Referrer-Policy": "no-referrer" };
/** Refusals that people read as pages. */
const REFUSALS = { link_expired: answerExpired, org_suspended: answerSuspended };

/** Whom a link is asked for. */
export const PersonEmail = z.string().max(254).openapi({
  description: "One address of a person: ASCII before the @, a domain name after it.",
  example: "name@example.org",
});

/** @throws RelayError `invalid_email` */
export function readPersonEmail({ domain }: Pick<MailCore, "domain">, request: JsonObject): string {
  const email = cleanEmail("email", request["email"]);
  refuseOwnDomain("email", email, domain);
  return email;
}

export const BROWSERS =
  "**A browser gets a page whose button does it**, so that what looks at mails for " +
  "viruses spends nothing: one that names text/html in `Accept`, begins `User-Agent` with " +
  "`Mozilla/` or sends a `Sec-Fetch-` header. HEAD spends nothing.";

/** Of the POST of a link. */
export const FORM_OR_JSON =
  "The body is JSON or a form; the answer is a page where Accept names text/html.";

/** What is said of one of the routes of a link. */
interface Said {
  id: string;
  summary: string;
  description: string;
  /** Its answer 200 in words and as JSON. */
  answer: [what: string, schema: z.ZodType];
}

/** The routes of a link: GET where its mail leads, POST its button, or a program. */
export function linkRoutes(path: string, actions: LinkActions, { follow, confirm }: {
  follow: Said & { note: string };
  confirm: Said & { body: z.ZodType; errors?: Operation["errors"] };
}) {
  const facts = ({ id, summary }: Said) =>
    ({ path, id, summary, may: "public", pages: true }) as const;
  return [
    openRoute({
      ...facts(follow),
      method: "GET",
      note: follow.note,
      words: {
        description: follow.description,
        query: tokenQuery("The one in the link of the mail."),
        answers: linkAnswers(...follow.answer),
        errors: LINK_ERRORS,
        never: ["invalid_json"],
      },
      handle: getLink(actions),
    }),
    openRoute({
      ...facts(confirm),
      method: "POST",
      addition: true,
      words: {
        description: confirm.description,
        body: {
          description: "JSON, or the same fields as `application/x-www-form-urlencoded`.",
          schema: confirm.body,
        },
        answers: linkAnswers(...confirm.answer),
        errors: { ...LINK_ERRORS, ...confirm.errors },
      },
      handle: postLink(actions),
    }),
  ];
}

const LINK_ERRORS: Operation["errors"] = {
  link_expired: null,
  org_suspended: "the operator has suspended the org; the link is not spent",
};
const page: Content = { type: "text/html", schema: z.string().min(1) };

function linkAnswers(what: string, schema: z.ZodType): Operation["answers"] {
  const headers = ["Cache-Control"] as const;
  const refusal = { description: "The same as a page.", headers, content: page };
  return {
    200: { description: what, headers, content: [{ schema }, page] },
    403: refusal,
    410: refusal,
  };
}

/** @throws RelayError `link_expired` for a token that was never made for one of these kinds */
export async function openLink(
  { secret }: Pick<MailCore, "secret">,
  token: unknown,
  kinds: readonly LinkKind[],
): Promise<string> {
  const opened = typeof token === "string"
    ? openLinkToken(await secret.key("mail-link"), token, kinds)
    : null;
  if (opened === null) throw linkExpired();
  return opened.id;
}

/**
 * GET: browsers are asked first, and so are scanners that act as one; where more than a sign-in to one's
 * own org would come of it, everybody is who does not ask for JSON by name. HEAD spends nothing.
 */
function getLink({ kinds, look, follow }: LinkActions) {
  return (services: MailCore) => async ({ c }: MailRequest): Promise<Response> => {
    const { raw } = c.req;
    const isPerson = isBrowser(raw);
    return await answerLink(isPerson, REFUSALS, async () => {
      const token = tokenOf(c.get("query"));
      const { ask, isAskedByName } = await look(
        services,
        await openLink(services, token, kinds),
        token!,
      );
      if (isPerson || (isAskedByName && !namesType(raw, "application/json"))) return await ask();
      if (c.get("head")) return answerJson({}, 200, LINK_HEADERS);
      return await follow(services, { token }, false);
    }, LINK_HEADERS);
  };
}

const FORM_FIELDS = ["token", "action", "org_id", "api_key"] as const;

/** POST: the button of the page, as a form, or a program, as JSON. */
function postLink({ follow }: LinkActions) {
  return (services: MailCore) => async ({ c, bytes }: MailRequest): Promise<Response> => {
    const body = await bytes();
    const asPage = namesHtml(c.req.raw);
    return await answerLink(asPage, REFUSALS, async () => {
      const fields = isForm(c.req.raw) ? readForm(body, FORM_FIELDS) : readObject(body);
      return await follow(services, fields, asPage);
    }, LINK_HEADERS);
  };
}

/**
 * Whether a browser asks, or a scanner of mail that acts as one: Accept names text/html, User-Agent
 * begins `Mozilla/`, or a Sec-Fetch header is there (docs/mail.md). Pure.
 */
export function isBrowser(request: Request): boolean {
  const { headers } = request;
  return namesHtml(request) || (headers.get("user-agent") ?? "").startsWith("Mozilla/") ||
    [...headers.keys()].some((name) => name.startsWith("sec-fetch-"));
}
