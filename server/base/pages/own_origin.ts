/**
 * Whether a form was sent by a page of this relay: browsers name where a POST comes from, and no page
 * of a stranger can name another place. Pure.
 */
import { isLoopback } from "../config/loopback.ts";
import { RelayError } from "../errors.ts";

/**
 * The origin that a form was sent from: the relay's own, or the one of this machine that
 * it was reached at, as through a tunnel.
 * @param baseUrl origin of the relay's links
 * @throws RelayError `forbidden` for every other origin, and where none is named
 */
export function requireOwnOrigin(headers: Headers, baseUrl: string): string {
  const origin = headers.get("origin");
  if (origin !== null && (origin === baseUrl || isOfThisMachine(origin, headers.get("host")))) {
    return origin;
  }
  throw new RelayError(
    "forbidden",
    `this form is taken from a page of ${baseUrl} alone (RELAY_BASE_URL): open the page there and send it again`,
  );
}

/** Whether cookies of this origin may do without TLS: nothing between browser and relay can read them. */
export function isPlainLoopback(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}

function isOfThisMachine(origin: string, host: string | null): boolean {
  return host !== null && origin === `http://${host.toLowerCase()}` && URL.canParse(origin) &&
    isPlainLoopback(origin);
}
