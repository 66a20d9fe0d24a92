/** What a handler reads the body of its request by. */
import type { Context } from "hono";
import type { HttpEnv } from "./route.ts";

/**
 * The raw bytes of the body, within what its route declares as `body`; empty when there is none.
 * @throws RelayError payload_too_large when the body is larger: at once by Content-Length, else
 * when the limit is passed; request_timeout when it is not complete in time; unavailable when it
 * has to give way to others of its pool; invalid_json when it is encoded or ends early
 * @throws TypeError when the route declares no body
 */
export function readBody(c: Context<HttpEnv>): Promise<Uint8Array<ArrayBuffer>> {
  const body = c.get("body");
  if (body === undefined) throw new TypeError(`${c.req.method} ${c.get("path")} declares no body`);
  return body.read();
}
