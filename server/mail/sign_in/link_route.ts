/** How links of mails are answered, whatever they do, and what the description says of all of them. */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Content, Operation } from "../../base/description/operation.ts";
import { RelayError } from "../../base/errors.ts";
import { answerError, answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { namesType } from "../../base/http/answers/names_type.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { isForm, readForm } from "../../base/http/fields/form_body.ts";
import type { MailRequest } from "../access/mail_route.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { type LinkKind, openLinkToken, tokenOf } from "../access/link_token.ts";
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

export const TokenQuery = z.object({
  token: z.string().optional().openapi({ description: "The one in the link of the mail." }),
});

export const BROWSERS =
  "**A browser gets a page whose button does it**, so that what looks at mails for " +
  "viruses spends nothing: one that names text/html in `Accept`, begins `User-Agent` with " +
  "`Mozilla/` or sends a `Sec-Fetch-` header. HEAD spends nothing.";

export const LINK_ERRORS: Operation["errors"] = {
  link_expired: null,
  org_suspended: "the operator has suspended the org; the link is not spent",
};

const page: Content = { type: "text/html", schema: z.string().min(1) };

export function linkAnswers(what: string, schema: z.ZodType): Operation["answers"] {
  return {
    200: { description: what, headers: ["Cache-Control"], content: [{ schema }, page] },
    403: { description: "The same as a page.", headers: ["Cache-Control"], content: page },
    410: { description: "The same as a page.", headers: ["Cache-Control"], content: page },
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
export function getLink({ kinds, look, follow }: LinkActions) {
  return (services: MailCore) => async ({ c }: MailRequest): Promise<Response> => {
    const { raw } = c.req;
    const isPerson = isBrowser(raw);
    return await answerLink(isPerson, async () => {
      const token = tokenOf(c.get("query"));
      const { ask, isAskedByName } = await look(
        services,
        await openLink(services, token, kinds),
        token!,
      );
      if (isPerson || (isAskedByName && !namesType(raw, "application/json"))) return await ask();
      if (c.get("head")) return answerJson({}, 200, LINK_HEADERS);
      return await follow(services, { token }, false);
    });
  };
}

const FORM_FIELDS = ["token", "action", "org_id", "api_key"] as const;

/** POST: the button of the page, as a form, or a program, as JSON. */
export function postLink({ follow }: LinkActions) {
  return (services: MailCore) => async ({ c, bytes }: MailRequest): Promise<Response> => {
    const body = await bytes();
    const asPage = namesHtml(c.req.raw);
    return await answerLink(asPage, async () => {
      const fields = isForm(c.req.raw) ? readForm(body, FORM_FIELDS) : readObject(body);
      return await follow(services, fields, asPage);
    });
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

/** The answer of a link, or that it does nothing: neither may be kept, and nothing behind it learns its address. */
async function answerLink(asPage: boolean, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RelayError) || !Object.hasOwn(REFUSALS, error.code)) throw error;
    if (asPage) return await REFUSALS[error.code as keyof typeof REFUSALS]();
    const refusal = answerError(error);
    for (const [name, value] of Object.entries(LINK_HEADERS)) refusal.headers.set(name, value);
    return refusal;
  }
}
