/** The HTTP application: routes by their raw path, and everything that holds for all of them. */
import { type Context, Hono } from "hono";
import type { Deps } from "./base/parts/deps.ts";
import { RelayError } from "./base/errors.ts";
import { answerError, refusalOf } from "./base/http/answers/answer.ts";
import { AnswerBudget } from "./base/http/answers/answer_budget.ts";
import type { BodyReader } from "./base/http/bodies/body_reader.ts";
import { callerAddress } from "./base/http/callers/client_address.ts";
import { allowPreflight, openCors } from "./base/http/routes/cors.ts";
import { giveAnswer } from "./base/http/answers/large_answer.ts";
import { namesHtml } from "./base/http/answers/names_html.ts";
import { createPathTable } from "./base/http/routes/path_table.ts";
import { RefusalCounts } from "./base/http/answers/refusal_counts.ts";
import { RequestsUnderWay } from "./base/http/routes/requests_under_way.ts";
import type { HttpEnv, Route } from "./base/http/routes/route.ts";
import { decodeSegment, rawPath, rawQuery } from "./base/http/routes/target.ts";
import { answerErrorPage } from "./base/pages/error_page.ts";

export interface AppParts {
  deps: Deps;
  /** All that there are. */
  routes: readonly Route[];
  /** What the routes read bodies by. */
  bodies: Pick<BodyReader, "open">;
  /** Where large answers stand until they are taken; bounded as usual unless given. */
  answers?: AnswerBudget;
  /** Where requests are counted while they are under way. */
  requests?: RequestsUnderWay;
  /** Where refusals are counted by their codes. */
  refusals?: RefusalCounts;
}

type HttpContext = Context<HttpEnv>;
/** What of a route its answers depend on. */
type Finished = Pick<Route, "cors" | "ownCors" | "page">;

/**
 * The application over all routes. Every answer is JSON unless its route says otherwise, carries
 * an X-Request-Id made here, and never tells what went wrong inside.
 */
export function createApp(parts: AppParts): Hono<HttpEnv> {
  const { deps, routes, bodies, answers = new AnswerBudget() } = parts;
  const { requests = new RequestsUnderWay(), refusals = new RefusalCounts() } = parts;
  const table = createPathTable(routes);
  const nextRequestId = createRequestIds(deps.random(9));
  const app = new Hono<HttpEnv>({ strict: true, getPath: rawPath });

  for (const route of table.routes) {
    const isLiteral = !route.path.includes("{");
    // One handler a route and no middleware: Hono then calls it without composing a chain.
    app.on(route.method, honoPath(route.path), (c) => {
      const requestId = begin(c);
      const address = () => callerAddress(c, deps.config.trustedProxyHops);
      const body = route.body && bodies.open(c.req.raw, route.body, address);
      if (body !== undefined) c.set("body", body);
      const finish = (answer: Response) => {
        body?.close(sentOf(c));
        return give(c, answer, route, requestId);
      };
      const refuse = (failure: unknown) => {
        body?.close(sentOf(c));
        c.get("reservation")?.end();
        return fail(c.req.raw, failure, route, requestId);
      };
      try {
        if (!isLiteral && !hasDecodableSegments(c.req.path)) throw unknownPath();
        const answer = route.handle(c);
        return answer instanceof Promise ? answer.then(finish, refuse) : finish(answer);
      } catch (failure) {
        return refuse(failure);
      }
    });
  }

  app.notFound((c) => {
    const requestId = begin(c);
    const { path, method } = c.req;
    const known = table.find(path);
    if (known === undefined) {
      return fail(c.req.raw, unknownPath(), ofUnknown(path), requestId);
    }
    if (method !== "OPTIONS") {
      return fail(c.req.raw, wrongMethod(known.allow), known.route, requestId);
    }
    const answer = new Response(null, { status: 204, headers: { Allow: known.allow } });
    if ((known.route.cors ?? "open") === "open") {
      const requested = c.req.raw.headers.get("access-control-request-headers");
      allowPreflight(answer.headers, known.allow, requested);
    }
    return finish(c.req.raw, answer, known.route, requestId);
  });

  // Handlers fail inside their own wrappers; this is for what Hono itself may throw.
  app.onError((failure, c) =>
    fail(c.req.raw, failure, { cors: "none" }, c.get("requestId") ?? nextRequestId())
  );

  // Hono makes the answers to HEAD again, without a body.
  const { fetch } = app;
  app.fetch = (request, ...rest) => {
    const answer = requests.counted(() => fetch(request, ...rest));
    if (request.method !== "HEAD") return answer;
    return answer instanceof Promise ? answer.then(headAnswer) : headAnswer(answer);
  };

  function begin(c: HttpContext): string {
    const requestId = nextRequestId();
    c.set("requestId", requestId);
    c.set("path", c.req.path);
    c.set("query", rawQuery(c.req.raw.url));
    c.set("head", c.req.raw.method === "HEAD");
    return requestId;
  }

  /** The answer piece by piece where it is large, or the refusal of one for which there is no room. */
  function give(
    c: HttpContext,
    answer: Response,
    route: Finished,
    requestId: string,
  ): Response | Promise<Response> {
    let given: Response;
    try {
      given = giveAnswer(answer, c.get("reservation"), answers, c.get("head"));
    } catch (failure) {
      return fail(c.req.raw, failure, route, requestId);
    }
    return finish(c.req.raw, given, route, requestId);
  }

  /** The refusal as a page where people meet the route, else as JSON. */
  function fail(
    request: Request,
    failure: unknown,
    route: Finished,
    requestId: string,
  ): Response | Promise<Response> {
    const refusal = refusalOf(failure, deps.log, requestId);
    refusals.add(refusal.code);
    if (route.page !== true || !namesHtml(request)) {
      return finish(request, answerError(refusal), route, requestId);
    }
    return answerErrorPage(refusal, requestId).then((page) =>
      finish(request, page, route, requestId)
    );
  }

  return app;
}

function finish(
  request: Request,
  answer: Response,
  route: Finished,
  requestId: string,
): Response | Promise<Response> {
  const { headers } = answer;
  headers.set("X-Request-Id", requestId);
  const cors = route.cors ?? "open";
  if (cors === "open") openCors(headers);
  else if (cors === "own") route.ownCors?.(request, headers);
  return request.method === "HEAD" ? withoutBody(answer) : answer;
}

/** The headers alone, Content-Length telling what GET would send (RFC 9110, section 9.3.2). */
async function withoutBody(answer: Response): Promise<Response> {
  const { status, headers, body } = answer;
  if (body !== null) {
    headers.set("Content-Length", String((await answer.arrayBuffer()).byteLength));
  }
  return new Response(null, { status, headers });
}

/** What settles when the answer has left; undefined where no runtime serves, as in tests. */
function sentOf({ env }: HttpContext): (() => Promise<void>) | undefined {
  return env?.sent && (() => env.sent!());
}

/** Unique ids: 72 random bits of this process and a count. They identify, they protect nothing. */
function createRequestIds(seed: Uint8Array): () => string {
  const prefix = [...seed].map((byte) => byte.toString(36).padStart(2, "0")).join("");
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{([a-z_]+)\}/g, ":$1");
}

function hasDecodableSegments(path: string): boolean {
  // Without an escape nothing can be malformed: the HTTP parser lets no control character through.
  if (!path.includes("%")) return true;
  return path.split("/").every((segment) => decodeSegment(segment) !== undefined);
}

/** Paths that only programs ask for: their refusals are JSON always. */
const OF_PROGRAMS = /^\/(?:v1|mcp|openapi\.json|health)(?:\/|$)/i;

function ofUnknown(path: string): Finished {
  return {
    cors: path.startsWith("/v1/") && !path.startsWith("/v1/admin/") ? "open" : "none",
    // Without a slash at its beginning it is of a request whose Host is none.
    page: path.startsWith("/") && !OF_PROGRAMS.test(path),
  };
}

/**
 * The answer to a HEAD as the runtime must get it: an answer without a Content-Length stays without
 * one. For an answer without a body the runtime would say that GET sends 0 bytes (RFC 9110, section
 * 8.6).
 */
function headAnswer(answer: Response): Response {
  const { status, headers } = answer;
  // 304 and 204 have no body by themselves.
  if (headers.has("content-length") || status === 304 || status === 204) return answer;
  return new Response(new ReadableStream({ start: (body) => body.close() }), { status, headers });
}

function unknownPath(): RelayError {
  return new RelayError(
    "not_found",
    "no route has this path: paths match exactly, without a trailing or doubled slash, capitals " +
      "or percent-encoding of their fixed parts; GET / names the documentation",
  );
}

function wrongMethod(allow: string): RelayError {
  return new RelayError(
    "method_not_allowed",
    `this path does not take this method; it takes ${allow}`,
    { allow },
  );
}
