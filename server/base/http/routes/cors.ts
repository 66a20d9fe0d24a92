/** Cross-origin headers (docs/architecture.md): any origin, never credentials. */

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "X-Relay-Pubkey",
  "X-Relay-Timestamp",
  "X-Relay-Signature",
  "X-Relay-Envelope",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
];
const EXPOSED_HEADERS = "X-Request-Id, Retry-After, Idempotent-Replayed, Allow";
const PREFLIGHT_AGE_SECONDS = 86_400;

/** Lets scripts of any origin read an answer. */
export function openCors(headers: Headers): void {
  headers.set("Access-Control-Allow-Origin", "*");
  headers.set("Access-Control-Expose-Headers", EXPOSED_HEADERS);
}

/**
 * What a preflight is told in addition to openCors.
 * @param requested Access-Control-Request-Headers: names of the two open families, X-Relay-* and
 * Mcp-*, are allowed beyond the list
 */
export function allowPreflight(headers: Headers, allow: string, requested: string | null): void {
  const listed = new Set(ALLOWED_HEADERS.map((name) => name.toLowerCase()));
  const further = (requested ?? "").split(",").map((name) => name.trim().toLowerCase())
    .filter((name) => /^(x-relay|mcp)-[a-z0-9-]{1,64}$/.test(name) && !listed.has(name));
  headers.set("Access-Control-Allow-Methods", allow);
  headers.set("Access-Control-Allow-Headers", [...ALLOWED_HEADERS, ...new Set(further)].join(", "));
  headers.set("Access-Control-Max-Age", String(PREFLIGHT_AGE_SECONDS));
  headers.append("Vary", "Access-Control-Request-Headers");
}
