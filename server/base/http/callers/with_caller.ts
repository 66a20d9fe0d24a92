/** Routes that know who calls, whatever an area of the API takes a caller for. */
import type { Context } from "hono";
import { whenReady } from "./when_ready.ts";
import { readBody } from "../routes/read_body.ts";
import type { Handler, HttpEnv } from "../routes/route.ts";

/**
 * The caller of a request, without waiting where memory knows enough.
 * @param body raw request body, where the credential covers it
 * @throws RelayError, or rejects with it, with a status of 401, and whatever else the area refuses a caller for
 */
export type IdentifyCaller<Caller> = (
  c: Context<HttpEnv>,
  body?: Uint8Array,
) => Caller | Promise<Caller>;

/** A handler that is run for callers that `identify` lets through. It reads a body by itself. */
export function withCaller<Caller>(
  identify: IdentifyCaller<Caller>,
  handle: (c: Context<HttpEnv>, caller: Caller) => Response | Promise<Response>,
): Handler {
  return (c) => whenReady(identify(c), (caller) => handle(c, caller));
}

/** As withCaller(), for routes whose body is read before the caller is known: a signature covers it. */
export function withCallerAndBody<Caller>(
  identify: IdentifyCaller<Caller>,
  handle: (
    c: Context<HttpEnv>,
    caller: Caller,
    body: Uint8Array,
  ) => Response | Promise<Response>,
): Handler {
  return async (c) => {
    const body = await readBody(c);
    return await handle(c, await identify(c, body), body);
  };
}
