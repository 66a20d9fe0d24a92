// Over 300 lines: every check that a page or a form goes through, in its order.
/**
 * How a page of the console is declared. A page asks for a session, and leads to /mail without one. A form
 * asks for its own origin, a session, and the token that it was made with, in this order; then it does what
 * the API does.
 */
import type { Context } from "hono";
import { z } from "@hono/zod-openapi";
import {
  type Declaration,
  declareRoute,
  type MountServices,
  type RouteWords,
} from "../../base/description/declaration.ts";
import type { Operation } from "../../base/description/operation.ts";
import type { Limits } from "../../base/config/limits.ts";
import { RelayError } from "../../base/errors.ts";
import { readForm, requireForm } from "../../base/http/fields/form_body.ts";
import { readQuery, text } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import { decodeSegment } from "../../base/http/routes/target.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import { isPlainLoopback, requireOwnOrigin } from "../../base/pages/own_origin.ts";
import { mailWords } from "../../mail/access/mail_words.ts";
import type { MailConsole } from "../../mail/part.ts";
import {
  formToken,
  isFormToken,
  isToLoopback,
  type OpenSession,
} from "../../mail/sessions/mail_sessions.ts";
import { type AskRelay, MailApi } from "./mail_api.ts";

export interface ConsoleServices {
  /** Null where the mail area is off. */
  mail: MailConsole | null;
  ask: AskRelay;
}

/** A request to the console. */
export interface Visit {
  c: Context<HttpEnv>;
  mail: MailConsole;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string | undefined>>;
  nowMs: number;
  /** Calls the API for nobody, or for the session. */
  api: MailApi;
}

export interface SignedInVisit extends Visit {
  session: OpenSession;
  /** What a form carries that goes to a path. */
  tokenFor(action: string): string;
}

interface Facts {
  path: string;
  id: string;
  summary: string;
  /** What the page shows, or the form does. */
  says: string;
  /** Names of its query. */
  query?: readonly string[];
  /** Types of its answer besides a page. */
  types?: readonly string[];
  /** True for a form that another site sends, which the handler ties to this browser otherwise. */
  isFromElsewhere?: true;
}

type Declared = Declaration<ConsoleServices & MountServices>;

/** Name of the field that carries the token of a form. */
export const FORM_FIELD = "form";
const FORM_BYTES = 64 * 1024;

/** What the API may refuse, and a page tells. */
const REFUSALS: Operation["errors"] = {
  invalid_json: null,
  invalid_email: null,
  forbidden: "the form is that of another site, or of another session",
  not_found: "the session's org has nothing at this address, or the key is for another inbox",
  unknown_key: "the API key is not known",
  expired_key: "the API key has expired",
  insufficient_permission: "the session's key may not do this",
  org_suspended: "the operator has suspended the org",
  trial_expired: "the org's trial has ended",
  trial_org_cannot_send: null,
  approval_required:
    "a person approves what this inbox sends, with more rights than the session has",
  recipient_not_allowed: null,
  recipient_suppressed: null,
  reserved_local_part: null,
  inbox_limit_reached: null,
  address_taken: null,
  already_sent: null,
  draft_changed: null,
  draft_limit_reached: null,
  key_limit_reached: null,
  last_key: null,
  webhook_limit_reached: null,
  idempotency_key_reused: null,
  idempotency_in_progress: null,
  google_signin_disabled: null,
  invalid_google_token: null,
  link_expired: null,
  rate_limited: "as the API limits it",
  payload_too_large: null,
};

function declare(
  method: "GET" | "POST",
  { path, id, summary, says, query = [], types = [] }: Facts,
  handle: (visit: Visit, services: ConsoleServices) => Promise<Response>,
  bodyLimit?: keyof Limits,
): Declared {
  const content = ["text/html", ...types].map((type) => ({ type, schema: z.string() }));
  const headers = ["Cache-Control"] as const;
  const words: RouteWords = {
    description: says,
    ...(query.length === 0 ? {} : {
      query: z.object(Object.fromEntries(query.map((name) => [name, z.string().optional()]))),
    }),
    ...(method === "GET" ? {} : {
      body: {
        description: "A form of the console.",
        type: bodyLimit === undefined ? "application/x-www-form-urlencoded" : "multipart/form-data",
        schema: z.object({}),
      },
    }),
    answers: {
      200: { description: "The page.", headers, content },
      303: { description: "Where it goes on.", headers },
    },
    errors: REFUSALS,
  };
  return declareRoute<ConsoleServices>({
    method,
    path,
    id,
    summary,
    tag: "Mail",
    addition: true,
    page: true,
    cors: "none",
    access: [],
    pool: "mail",
    ...(method === "POST" ? { bodyLimit: bodyLimit ?? FORM_BYTES } : {}),
    words: (setting) => mailWords({ path, may: "public", note: says, words }, setting),
  }, (services) => async (c) => {
    const { mail } = services;
    if (mail === null) {
      throw new RelayError("mail_disabled", "the mail area is off on this relay");
    }
    return await handle({
      c,
      mail,
      params: paramsOf(path, c.get("path")),
      query: readQuery(c.get("query"), Object.fromEntries(query.map((name) => [name, text()]))),
      nowMs: mail.store.now(),
      api: apiOf(services, mail, c, null),
    }, services);
  });
}

function apiOf(
  { ask }: ConsoleServices,
  mail: MailConsole,
  c: Context<HttpEnv>,
  session: OpenSession | null,
): MailApi {
  const forwarded = c.req.raw.headers.get("x-forwarded-for");
  return new MailApi({
    ask,
    vouch: (request, find) => session === null ? request : mail.authenticator.vouch(request, find),
    find: () => mail.sessions.require(session!.value),
    env: c.env,
    baseUrl: mail.baseUrl,
    headers: forwarded === null ? {} : { "X-Forwarded-For": forwarded },
    signal: c.req.raw.signal,
  });
}

/** A page that everybody may open. */
export function openPage(facts: Facts, handle: (visit: Visit) => Promise<Response>): Declared {
  return declare("GET", facts, handle);
}

/** A form that needs no session, such as to begin one. */
export function openForm<Name extends string>(
  facts: Facts,
  names: readonly Name[],
  handle: (visit: Visit, form: Partial<Record<Name, string>>) => Promise<Response>,
): Declared {
  return declare("POST", facts, async (visit) => {
    const { c: { req: { raw } } } = visit;
    if (facts.isFromElsewhere !== true) requireSignInOrigin(raw.headers, visit.mail.baseUrl);
    if (names.length > 0) requireForm(raw, names);
    return await handle(visit, readForm(await readBody(visit.c), names));
  });
}

/** A page of a session; leads to /mail without one. */
export function page(facts: Facts, handle: (visit: SignedInVisit) => Promise<Response>): Declared {
  return ofSession("GET", facts, async (visit) => {
    try {
      return await handle(visit);
    } catch (error) {
      // It ended while the page was made.
      if (error instanceof RelayError && error.code === "unknown_key") return seeOther("/mail");
      throw error;
    }
  }, () => Promise.resolve(seeOther("/mail")));
}

/** A form of a session. */
export function form<Name extends string>(
  facts: Facts,
  names: readonly Name[],
  handle: (visit: SignedInVisit, form: Partial<Record<Name, string>>) => Promise<Response>,
): Declared {
  return ofSession("POST", facts, async (visit) => {
    requireForm(visit.c.req.raw, names);
    const body = await readBody(visit.c);
    // It may have ended while the body came, which takes as long as its sender wants.
    if (await visit.mail.sessions.find(visit.session.value) === null) {
      return await refuseSignedOut();
    }
    const fields = readForm(body, [...names, FORM_FIELD]);
    requireFormToken(visit, fields[FORM_FIELD]);
    return await handle(visit, fields as Partial<Record<Name, string>>);
  }, refuseSignedOut);
}

/** A form whose body the handler reads: it calls requireFormToken(). @param bodyLimit bytes, or a limit's name */
export function bodyForm(
  facts: Facts,
  bodyLimit: keyof Limits,
  handle: (visit: SignedInVisit) => Promise<Response>,
): Declared {
  return ofSession("POST", facts, handle, refuseSignedOut, bodyLimit);
}

function ofSession(
  method: "GET" | "POST",
  facts: Facts,
  handle: (visit: SignedInVisit) => Promise<Response>,
  signedOut: () => Promise<Response>,
  bodyLimit?: keyof Limits,
): Declared {
  return declare(method, facts, async (visit, services) => {
    if (method === "POST") requireOwnOrigin(visit.c.req.raw.headers, visit.mail.baseUrl);
    const session = await findSession(visit);
    if (session === null) return await signedOut();
    return await handle({
      ...visit,
      session,
      api: apiOf(services, visit.mail, visit.c, session),
      tokenFor: (action) => formToken(session.value, action),
    });
  }, bodyLimit);
}

/** @throws RelayError `forbidden` for a form that this session was not given, at this path */
export function requireFormToken(
  { session, c }: Pick<SignedInVisit, "session" | "c">,
  given: string | undefined,
): void {
  if (given !== undefined && isFormToken(session.value, c.get("path"), given)) return;
  throw new RelayError(
    "forbidden",
    "this form belongs to another session: load the page again, and send it once more",
  );
}

/** The session that a visit brings; null for none. */
export function findSession({ c, mail }: Pick<Visit, "c" | "mail">): Promise<OpenSession | null> {
  return mail.sessions.findIn(c.req.raw.headers);
}

/** Whether the session's cookie takes TLS: not over http on this machine. */
export function isSecureVisit({ c, mail: { baseUrl } }: Pick<Visit, "c" | "mail">): boolean {
  const { headers } = c.req.raw;
  const origin = headers.get("origin");
  // Of a form that another site sent, or no site that it names, the relay's own address says it.
  const isOwn = origin !== null && URL.canParse(origin) &&
    (origin === baseUrl || isPlainLoopback(origin));
  return isOwn ? !isPlainLoopback(origin) : !(isToLoopback(headers) && isPlainLoopback(baseUrl));
}

/**
 * As requireOwnOrigin(). Pages behind links of mails send no referrer, and browsers then name no origin: they say
 * otherwise that a form is of the same one.
 */
function requireSignInOrigin(headers: Headers, baseUrl: string): void {
  const isUnnamed = headers.get("origin") === "null";
  if (isUnnamed && headers.get("sec-fetch-site") === "same-origin") return;
  requireOwnOrigin(headers, baseUrl);
}

function refuseSignedOut(): Promise<Response> {
  return Promise.reject(
    new RelayError("forbidden", "the session has ended: sign in at /mail, then try again"),
  );
}

/** Where a form leads when it was done: reloading that page sends nothing again. */
export function seeOther(path: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...pageHeaders("same-origin"), ...headers, Location: path },
  });
}

/** app.ts has refused what cannot be decoded. */
function paramsOf(pattern: string, path: string): Record<string, string> {
  const segments = path.split("/");
  return Object.fromEntries(
    pattern.split("/").flatMap((part, i) =>
      part.startsWith("{") ? [[part.slice(1, -1), decodeSegment(segments[i]!)!]] : []
    ),
  );
}
