/**
 * The routes of the mail area, made from the table of its paths. Each request goes through the same
 * checks in the same order (docs/api.md, "The mail area"):
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
 * more (keys/require_org.ts).
 */
import type { Context } from "hono";
import type { JsonObject } from "../../toolkit/json_value.ts";
import { RelayError } from "../errors.ts";
import { allowPreflight, openCors } from "../http/cors.ts";
import { readObject } from "../http/json_body.ts";
import { readBody } from "../http/read_body.ts";
import type { HttpEnv, Route } from "../http/route.ts";
import { decodeSegment } from "../http/target.ts";
import { isKeyAccess, refusalOf } from "./access.ts";
import type { Limits } from "../limits.ts";
import type { KeyAuthenticator, MailCaller } from "./keys/authenticate_key.ts";
import { MAIL_PATHS, type MailPath, type MailPathId } from "./paths.ts";

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

/** Handlers by the ids of their routes: of those with a mail key, and of all others. */
export type MailHandlers = Readonly<
  & { [Id in MailPathId<"keyed">]?: (request: KeyedRequest) => Promise<Response> }
  & { [Id in MailPathId<"other">]?: (request: MailRequest) => Promise<Response> }
>;

export interface MailRouting {
  /** Null while mail is off. */
  on: { authenticator: KeyAuthenticator; handlers: MailHandlers; tools: Route } | null;
  limits: Pick<Limits, "mailInboundBytes" | "mailRequestBytes">;
}

/** Of the routes whose rows in paths.ts say nothing else. */
const BODY_BYTES = 256 * 1024;
/** A thousand delivery events. */
const EVENTS_BYTES = 1024 * 1024;

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

/** Every route of the mail area; those without a handler answer 503 `mail_disabled`. */
export function mailRoutes({ on, limits }: MailRouting): Route[] {
  return MAIL_PATHS.map((path): Route =>
    path.access === "tools" && on !== null ? on.tools : ({
      method: path.method.toUpperCase() as Route["method"],
      path: path.path,
      // The operator's routes, the page for people and a tool server that is off are without CORS.
      ...(path.pages === true ? PAGE_CORS : {
        cors: path.path.startsWith("/v1/mail/") ? "open" : "none",
      }),
      // The one page outside the API.
      ...(path.path.startsWith("/mail/") ? { page: true } : {}),
      body: {
        limitBytes: bodyBytes(path, limits),
        pool: "mail",
      },
      handle: on === null ? refuseOff : handlerOf(path, on),
    })
  );
}

function bodyBytes({ bodyLimit }: MailPath, limits: MailRouting["limits"]): number {
  if (bodyLimit === undefined) return BODY_BYTES;
  return bodyLimit === "mailEventsBytes" ? EVENTS_BYTES : limits[bodyLimit];
}

function handlerOf(path: MailPath, on: NonNullable<MailRouting["on"]>): Route["handle"] {
  const handler = on.handlers[path.id] as
    | ((request: KeyedRequest) => Promise<Response>)
    | undefined;
  if (handler === undefined) return refuseMissing;
  const { access } = path;
  return async (c) => {
    const params = paramsOf(path.path, c.get("path"));
    const requestOf = (bytes: MailRequest["bytes"]): MailRequest => ({
      c,
      params,
      bytes,
      body: async (ifEmpty) => parseBody(await bytes(), ifEmpty),
    });
    if (!isKeyAccess(access)) {
      return await handler(requestOf(() => readBody(c)) as KeyedRequest);
    }
    const identify = async () => {
      const caller = await on.authenticator.authenticate(c, path.expiredTrial);
      const refusal = refusalOf(access, caller.key);
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
    return await handler({ ...requestOf(confirmedBytes), ...await identify(), confirm });
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

function refuseOff(): never {
  throw new RelayError(
    "mail_disabled",
    "the mail area is off on this relay; messages between agents (POST /v1/messages) work without it, and its operator can tell when mail is on",
  );
}

function refuseMissing(): never {
  throw new RelayError(
    "mail_disabled",
    "this part of the mail area is not in this version of the relay; GET /openapi.json says what is",
  );
}
