/** Which URLs a stranger may have the relay post to. */
import { isIP } from "node:net";
import { invalidJson } from "../errors.ts";
import { isLoopbackAddress, isPublicAddress } from "./public_address.ts";

export interface UrlRules {
  /** Opens 127.0.0.0/8, ::1 and the name localhost, http included. */
  allowLoopback: boolean;
  /** Nothing leaves this machine. */
  local: boolean;
}

const MAX_CHARACTERS = 2_048;
const LABEL = "(?!-)[a-z0-9_-]{1,63}(?<!-)";
/** At least two labels, and no dot behind them: with one, a certificate's name and a resolver's differ. */
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})+$`);
/** Names that no public DNS has (RFC 6761, RFC 6762; .internal is ICANN's for private use). */
const PRIVATE_NAME = /\.(?:localhost|local|internal)$/;

/**
 * A URL to post to; its `href` is what was judged, however the text spelled it.
 * @throws RelayError `invalid_json` naming what is allowed
 */
export function requireOutsideUrl(text: string, rules: UrlRules): URL {
  const reason = whyRefused(text, rules);
  if (reason === null) return new URL(text);
  throw invalidJson(`url ${reason}; it must be ${allowedForm(rules)}`);
}

function allowedForm({ allowLoopback, local }: UrlRules): string {
  const loopback = "the http:// or https:// address of a server on this machine, such as " +
    "http://127.0.0.1:9000/hook,";
  const rest = `of at most ${MAX_CHARACTERS} characters, without user, password and fragment`;
  if (local) {
    return `${allowLoopback ? loopback : "unset: webhooks to this machine are off,"} ${rest}`;
  }
  const form = "an https:// address of a public host, such as https://example.com/hook,";
  return `${form}${allowLoopback ? ` or ${loopback}` : ""} ${rest}`;
}

function whyRefused(text: string, rules: UrlRules): string | null {
  if (text.length > MAX_CHARACTERS) return "is too long";
  // The parser leaves out spaces and line breaks: what has them is no address that somebody meant.
  if (!/^https?:\/\/[^/\s\\][^\s\\]*$/i.test(text) || !URL.canParse(text)) {
    return "is no such address";
  }
  const url = new URL(text);
  if (url.href.length > MAX_CHARACTERS) return "is too long, its escapes included";
  if (url.username !== "" || url.password !== "") return "has a user or a password";
  if (url.href.includes("#")) return "has a fragment";
  if (url.port === "0") return "has port 0";
  const host = hostOf(url);
  if (rules.allowLoopback && isLoopbackHost(host)) return null;
  if (rules.local) return "leaves this machine, which nothing does in local mode";
  if (isIP(host) !== 0 && !isPublicAddress(host)) return "has an address that is not public";
  if (isIP(host) === 0 && !NAME.test(host)) return "has a host that is no public name";
  if (PRIVATE_NAME.test(host)) return "has a name that is not public";
  return url.protocol === "https:" ? null : "is not https://";
}

/** The host as a resolver and node:net take it: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** True where the host stands for this machine without asking anybody. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}
