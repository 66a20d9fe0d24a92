/** The cookie that carries a session of the operator's pages. */
import { SESSION_MS } from "./sessions.ts";

const NAME = "relay_admin";
/** Of a Cookie header that a browser sends; a longer one is none of ours. */
const MAX_VALUES = 4;

/**
 * Set-Cookie for a session, sent to nothing but the operator's pages.
 * @param isSecure false where the relay is used over http on this machine
 */
export function sessionCookie(value: string, isSecure: boolean): string {
  return cookie(value, SESSION_MS / 1000, isSecure);
}

/** Set-Cookie that has a browser forget the session. */
export function endedCookie(isSecure: boolean): string {
  return cookie("", 0, isSecure);
}

/** What a request sends under the cookie's name: several where another path or host set one too. */
export function sentSessions(headers: Headers): string[] {
  return (headers.get("cookie") ?? "").split(/;\s*/)
    .filter((pair) => pair.startsWith(`${NAME}=`))
    .slice(0, MAX_VALUES)
    .map((pair) => pair.slice(NAME.length + 1));
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${NAME}=${value}; Path=/admin; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict` +
    (isSecure ? "; Secure" : "");
}
