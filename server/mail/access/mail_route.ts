/**
 * How a route of the mail area is declared. Each request goes through the same checks in the same
 * order:
 *
 *  1. the path and its method (app.ts): 404, 405
 *  2. is mail on: 503 `mail_disabled`
 *  3. the key: 401 `missing_token`, `unknown_key`, `expired_key`
 *  4. its org: 403 `trial_expired`, `org_suspended`
 *  5. what the key may: 403 `insufficient_permission`
 *  6. the object that the path names, found by the handler: 404
 *  7. what the org or the inbox may: 403 `trial_org_cannot_send`, `approval_required`
 *  8. the body, read by the handler when all that holds: 413, 408; when it has come, 3 to 5 again; 400
 *  9. an Idempotency-Key: the stored answer, 422, 409
 * 10. recipients: 403 `recipient_not_allowed`, 422 `recipient_suppressed`
 * 11. limits: 429; conflicts, in the commit: 409
 *
 * Steps 2 to 5 are done here, the others by the handler, in this order. The commit decides 3 and 4 once
 * more (access/require_org.ts). Of the operator's routes step 3 is its token, 401 `unknown_token`; those
 * of the gateway (receiving/reports/gateway_route.ts) check its signature with the body, and public ones
 * have no steps 3 to 5.
 */
import type { Context } from "hono";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Deps } from "../../base/parts/deps.ts";
import {
  type Declaration,
  declareRoute,
  type MountServices,
  type RouteFacts,
  routeOf,
  type SayWords,
} from "../../base/description/declaration.ts";
import type { Credential } from "../../base/description/operation.ts";
import { RelayError } from "../../base/errors.ts";
import { allowPreflight, openCors } from "../../base/http/routes/cors.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import { requireAdmin } from "../../base/http/callers/require_admin.ts";
import type { Handler, HttpEnv, Route } from "../../base/http/routes/route.ts";
import { decodeSegment } from "../../base/http/routes/target.ts";
import type { Limits } from "../../base/config/limits.ts";
import { isKeyAccess, type KeyAccess, type MailAccess, refusalOf } from "./access.ts";
import type { KeyAuthenticator, MailCaller } from "./authenticate_key.ts";
import { mailWords, type SaidOfMail } from "./mail_words.ts";

/** A request that has passed the checks that come before its handler. */
export interface MailRequest {
  c: Context<HttpEnv>;
  /** The segments in braces of the path, decoded once. */
  params: Readonly<Record<string, string>>;
  /**
   * The raw bytes of the body; called when nothing but the body can be wrong any more.
   * @throws RelayError as readBody(), and as confirm() where a key may have died meanwhile
   */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The same as a JSON object.
   * @param ifEmpty what an empty body counts as
   * @throws RelayError as bytes(), `invalid_json`
   */
  body(ifEmpty?: JsonObject): Promise<JsonObject>;
}

/** One that came with a mail key, which may call the route. */
export interface KeyedRequest extends MailRequest, MailCaller {
  /**
   * For who has waited for anything but the body: the key may have died meanwhile.
   * @throws RelayError as for a new request
   */
  confirm(): Promise<void>;
}

interface MailFacts
  extends Pick<RouteFacts, "method" | "path" | "id" | "summary" | "addition" | "bodyLimit"> {
  /** What is said of it in place of its words where mail is off. */
  note?: string;
}

interface WordedFacts extends MailFacts {
  /** Parameters of the path, the key and its refusals are added. */
  words: SayWords;
  /** True where browsers get pages, which scripts of other origins may not read. */
  pages?: true;
}

/** A route of the mail area, and who may call it. */
export interface MailDeclaration<Services = never> extends Declaration<Services> {
  may: MailAccess;
  /** True where the key of an expired trial still opens the route. */
  expiredTrial?: true;
}

/** What routes that take a mail key are mounted with, in addition to their own services. */
export type KeyRouteServices = MountServices & { authenticator: KeyAuthenticator };

export interface KeyRoute<Services> extends WordedFacts, Pick<MailDeclaration, "expiredTrial"> {
  may: KeyAccess;
  handle: (services: Services) => (request: KeyedRequest) => Promise<Response>;
}

/** A route that takes a mail key: steps 3 to 5, and again when the body has come. */
export function keyRoute<Services>(
  { handle, ...facts }: KeyRoute<Services>,
): MailDeclaration<Services & KeyRouteServices> {
  const { may, path, expiredTrial } = facts;
  return declareMail<Services & KeyRouteServices>(facts, (services) => {
    const { authenticator } = services;
    const answer = handle(services);
    return async (c) => {
      const identify = async () => {
        const caller = await authenticator.authenticate(c, expiredTrial);
        const refusal = refusalOf(may, caller.key);
        if (refusal !== null) throw new RelayError("insufficient_permission", refusal);
        return caller;
      };
      const confirm = async () => void await identify();
      // The one place for all bodies: they may take two minutes, and a key may die in a moment.
      const confirmedBytes = async () => {
        const bytes = await readBody(c);
        await confirm();
        return bytes;
      };
      return await answer({
        ...requestOf(c, path, confirmedBytes),
        ...await identify(),
        confirm,
      });
    };
  });
}

export interface OpenRoute<Services> extends WordedFacts {
  /** What "gateway" takes is receiving/reports/gateway_route.ts's: a signature covers the body. */
  may: "public" | "gateway";
  handle: (services: Services) => (request: MailRequest) => Promise<Response>;
}

/** A route that takes no credential of its own. */
export function openRoute<Services>(
  { handle, ...facts }: OpenRoute<Services>,
): MailDeclaration<Services & MountServices> {
  return declareMail<Services>(facts, (services) => {
    const answer = handle(services);
    return async (c) => await answer(requestOf(c, facts.path, () => readBody(c)));
  });
}

export type OperatorRoute<Services> = Omit<OpenRoute<Services>, "may">;
export type OperatorServices = MountServices & { deps: Pick<Deps, "config"> };

/** A route of the relay's operator: its token comes before everything else. */
export function operatorRoute<Services>(
  { handle, ...facts }: OperatorRoute<Services>,
): MailDeclaration<Services & OperatorServices> {
  return declareMail<Services & OperatorServices>({ ...facts, may: "adminToken" }, (services) => {
    const { adminToken } = services.deps.config;
    const answer = handle(services);
    return async (c) => {
      requireAdmin(c.req.raw.headers, adminToken);
      return await answer(requestOf(c, facts.path, () => readBody(c)));
    };
  });
}

export interface ToolServerRoute<Services> extends Omit<WordedFacts, "pages"> {
  /** The whole route: a tool server has a body limit and CORS rules of its own. */
  serve: (services: Services) => Route;
}

/** The tool server: each tool asks for a key by itself. */
export function toolServerRoute<Services>(
  { serve, ...facts }: ToolServerRoute<Services>,
): MailDeclaration<Services & MountServices> {
  return { ...declareMail<Services>({ ...facts, may: "tools" }, () => refuseOff), mount: serve };
}

/** The routes of a mail area that is off: step 2. */
export function offRoutes(declarations: readonly MailDeclaration[], limits: Limits): Route[] {
  return declarations.map((one) => routeOf(one, limits, refuseOff));
}

function refuseOff(): never {
  throw new RelayError(
    "mail_disabled",
    "the mail area is off on this relay; messages between agents (POST /v1/messages) work without it, and its operator can tell when mail is on",
  );
}

/** For routes that say nothing else. */
const BODY_BYTES = 256 * 1024;

/** JSON may be read by scripts of any origin; a page, which may show an API key, by none. */
const PAGE_CORS: Pick<Route, "cors" | "ownCors"> = {
  cors: "own",
  ownCors(request, headers) {
    if (headers.get("content-type")?.startsWith("text/html")) return;
    openCors(headers);
    if (request.method !== "OPTIONS") return;
    const requested = request.headers.get("access-control-request-headers");
    allowPreflight(headers, headers.get("allow") ?? "", requested);
  },
};

function declareMail<Services>(
  said: MailFacts & Pick<WordedFacts, "pages"> & SaidOfMail,
  handlerOf: (services: Services & MountServices) => Handler,
): MailDeclaration<Services & MountServices> {
  const { path, may, expiredTrial, pages, note: _, bodyLimit = BODY_BYTES, ...facts } = said;
  // The operator's routes, the page for people and a tool server that is off are without CORS.
  const cors = path.startsWith("/v1/mail/") ? "open" : "none";
  const declaration = declareRoute<Services>({
    ...facts,
    ...(pages === true ? PAGE_CORS : { cors }),
    path,
    tag: "Mail",
    // The one page outside the API.
    page: path.startsWith("/mail/"),
    access: credentialsOf(may),
    bodyLimit,
    pool: "mail",
    words: (setting) => mailWords(said, setting),
  }, handlerOf);
  return { ...declaration, may, expiredTrial };
}

function credentialsOf(may: MailAccess): Credential[] {
  if (isKeyAccess(may) || may === "tools") return ["mailKey"];
  return may === "adminToken" ? ["adminToken"] : [];
}

function requestOf(
  c: Context<HttpEnv>,
  pattern: string,
  bytes: MailRequest["bytes"],
): MailRequest {
  return {
    c,
    params: paramsOf(pattern, c.get("path")),
    bytes,
    body: async (ifEmpty) => parseBody(await bytes(), ifEmpty),
  };
}

function parseBody(bytes: Uint8Array, ifEmpty: JsonObject | undefined): JsonObject {
  return bytes.length === 0 && ifEmpty !== undefined ? ifEmpty : readObject(bytes);
}

/** app.ts has refused what cannot be decoded. */
function paramsOf(pattern: string, path: string): Record<string, string> {
  const params: Record<string, string> = {};
  const segments = path.split("/");
  for (const [i, expected] of pattern.split("/").entries()) {
    if (expected.startsWith("{")) params[expected.slice(1, -1)] = decodeSegment(segments[i]!)!;
  }
  return params;
}
