/** Readers of single settings: each gives a typed value or a ConfigError that names the variable. */
import ipaddr from "ipaddr.js";
import { ConfigError, type Environment, optionalText } from "./config_error.ts";

export { ConfigError, type Environment, optionalText } from "./config_error.ts";

/** A host and a TCP or UDP port; IPv6 hosts stand without brackets. */
export interface HostPort {
  host: string;
  port: number;
}

/**
 * Integer within bounds.
 * @throws ConfigError unless it is a plain decimal integer in min..max
 */
export function integerSetting(
  env: Environment,
  variable: string,
  bounds: { min: number; max: number; fallback: number },
): number {
  const text = optionalText(env, variable);
  if (text === undefined) return bounds.fallback;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : NaN;
  if (!(value >= bounds.min && value <= bounds.max)) {
    throw new ConfigError(variable, `must be an integer from ${bounds.min} to ${bounds.max}`);
  }
  return value;
}

/**
 * Switch.
 * @throws ConfigError unless it is "true" or "false"
 */
export function booleanSetting(env: Environment, variable: string, fallback: boolean): boolean {
  const text = optionalText(env, variable);
  if (text === undefined) return fallback;
  if (text !== "true" && text !== "false") {
    throw new ConfigError(variable, 'must be "true" or "false"');
  }
  return text === "true";
}

/** True when the text is a host name (labels of letters, digits and inner hyphens) or an IP address. */
export function isHost(text: string): boolean {
  if (text.includes(":")) return ipaddr.IPv6.isValid(text);
  if (text.length > 253) return false;
  return /^(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*$/.test(text);
}

/**
 * URL of an allowed scheme.
 * @param schemes as URL.protocol spells them, as in "https:"
 * @throws ConfigError when it is no URL or of another scheme
 */
export function urlSetting(
  env: Environment,
  variable: string,
  schemes: readonly string[],
): URL | undefined {
  const text = optionalText(env, variable);
  if (text === undefined) return undefined;
  const allowed = schemes.map((scheme) => `${scheme}//`).join(" or ");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !schemes.includes(url.protocol) || url.hostname === "") {
    throw new ConfigError(variable, `must be a URL that begins with ${allowed}`);
  }
  return url;
}

/**
 * `host:port`, with an IPv6 host in brackets.
 * @param defaultPort used when no port is given; without one the port is required
 * @returns undefined when the text is not of that form
 */
export function parseHostPort(text: string, defaultPort?: number): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const host = match[1] ?? match[2]!;
  const port = match[3] === undefined ? defaultPort : Number(match[3]);
  if (port === undefined || port < 1 || port > 65535) return undefined;
  if (match[1] !== undefined && !ipaddr.IPv6.isValid(host)) return undefined;
  return isHost(host) ? { host, port } : undefined;
}
