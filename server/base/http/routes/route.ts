/** A route as the parts of the domain declare it; app.ts mounts it. */
import type { Context } from "hono";
import type { AnswerReservation } from "../answers/answer_budget.ts";
import type { OpenBody } from "../bodies/body_reader.ts";
import type { RouteBody } from "../bodies/body_pools.ts";

/** What Deno.serve tells besides the request, and what app.ts adds. */
export interface HttpEnv {
  Bindings: {
    /** Address of the socket's peer, absent in tests that call app.request(). */
    remoteAddress?: string;
    /** Settles when the answer has left, or cannot; absent as remoteAddress. */
    sent?: () => Promise<void>;
  };
  Variables: {
    requestId: string;
    /** The path exactly as it stands in request.url, undecoded, without the query. */
    path: string;
    /** The query exactly as it stands in request.url, without `?`; empty when absent. */
    query: string;
    /** True where GET was asked as HEAD: the answer is made, but nothing may take effect. */
    head: boolean;
    /** The body, where the route declares one; see readBody(). */
    body?: Pick<OpenBody, "read">;
    /** Room that the handler took for its answer; app.ts ends it with the answer. */
    reservation?: AnswerReservation;
  };
}

export type Handler = (c: Context<HttpEnv>) => Response | Promise<Response>;

export interface Route {
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Literal path, with at most `{name}` segments, as in "/v1/agents/{identifier}". */
  path: string;
  handle: Handler;
  /** What readBody() takes; absent where the handler reads no body, and the runtime discards what comes. */
  body?: RouteBody;
  /** "open" (when absent): any origin without credentials. "none": no CORS headers (admin, pages). "own": ownCors decides. */
  cors?: "open" | "none" | "own";
  /** Whether people meet this route in a browser: its refusals are pages where Accept names text/html. */
  page?: boolean;
  /** Sets the CORS headers of every answer on this path, 204, 405 and errors included; for "own" alone. */
  ownCors?: (request: Request, headers: Headers) => void;
}

/** What app.ts knows about a request besides the request itself: looked up when asked for. */
export function bindingsOf(info: Deno.ServeHandlerInfo<Deno.NetAddr>): HttpEnv["Bindings"] {
  return new ServedBindings(info);
}

/** The runtime makes texts of an address and a promise of an end: few requests want either. */
class ServedBindings {
  #address: string | undefined;

  constructor(private readonly info: Deno.ServeHandlerInfo<Deno.NetAddr>) {}

  /** Asked for while the request is not answered: the runtime knows no address of it after. */
  get remoteAddress(): string {
    return this.#address ??= this.info.remoteAddr.hostname;
  }

  sent(): Promise<void> {
    return this.info.completed;
  }
}
