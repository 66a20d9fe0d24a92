/**
 * The mail area while it is off: every one of its paths is known and answers 503 `mail_disabled`
 * (specification, sections 1 and 4.7), so that a client can tell "off here" from "no such path".
 */
import { RelayError } from "../errors.ts";
import type { Route } from "../http/route.ts";
import { MAIL_PATHS } from "./paths.ts";

/** Every route of the mail area, answering 503 `mail_disabled` before it looks at the request. */
export function disabledMailRoutes(): Route[] {
  return MAIL_PATHS.map(({ method, path }): Route => ({
    method: method.toUpperCase() as Route["method"],
    path,
    // The operator's routes, the page for people and the tool server are without CORS.
    cors: path.startsWith("/v1/mail/") ? "open" : "none",
    handle: refuse,
  }));
}

function refuse(): never {
  throw new RelayError(
    "mail_disabled",
    "the mail area is off on this relay; messages between agents (POST /v1/messages) work without it, and its operator can tell when mail is on",
  );
}
