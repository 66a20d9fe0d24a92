/**
 * Headers with which proxies, tunnels and content networks say that they forward a request, and for whom:
 * RFC 7239, RFC 9110 (7.6.3), RFC 8586, and what the common ones send in their place.
 */
const NAMES: ReadonlySet<string> = new Set([
  "cdn-loop",
  "client-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "forwarded",
  "forwarded-for",
  "true-client-ip",
  "via",
  "x-appengine-user-ip",
  "x-azure-clientip",
  "x-azure-socketip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-envoy-external-address",
  "x-original-forwarded-for",
  "x-original-host",
  "x-original-url",
  "x-proxyuser-ip",
  "x-real-ip",
  "x-remote-addr",
  "x-remote-ip",
  "x-rewrite-url",
]);
const PREFIXES = ["cf-", "tailscale-", "x-forwarded", "x-vercel-"];

/** The name of a header that gives away a proxy; null where there is none. Pure. */
export function forwardingHeader(headers: Headers): string | null {
  for (const name of headers.keys()) {
    if (NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))) return name;
  }
  return null;
}
