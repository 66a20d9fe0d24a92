/** What is fuzzed: every route of the relay, by itself; a line here says what a good request to it is. */
import type { JsonValue } from "../../toolkit/mod.ts";
import type { TestAgent } from "../support/test_agent.ts";

export interface FuzzContext {
  /** Registered; signs or bears its token. */
  alice: TestAgent;
  bob: TestAgent;
  /** A message from alice to bob. */
  messageId: number;
  /** A key and a handle that nobody has registered. */
  unregistered(): { handle: string; pubkey: string };
}

export interface FuzzRoute {
  method: string;
  /** As declared, with {name} segments. */
  path: string;
  /** A body that would be accepted, the seed of hostile ones. */
  body?: (context: FuzzContext) => { [name: string]: JsonValue };
  /** Parameters that the route knows. */
  query?: readonly string[];
  /** Errors may also be JSON-RPC's. */
  rpc?: boolean;
}

const KNOWN: readonly FuzzRoute[] = [
  {
    method: "POST",
    path: "/v1/register",
    body: (c) => ({ ...c.unregistered(), display_name: "n", description: "d", tags: ["t", "u"] }),
  },
  { method: "GET", path: "/v1/whoami" },
  { method: "GET", path: "/v1/agents/{identifier}" },
  { method: "POST", path: "/v1/owner-token", body: () => ({ ignored: true }) },
  {
    method: "POST",
    path: "/v1/messages",
    body: (c) => ({
      to: c.bob.handle,
      body: '{"text":"hello","n":[1,2.5,null]}',
      in_reply_to: c.messageId,
      content_type: "json",
    }),
  },
  { method: "GET", path: "/v1/inbox", query: ["since_id", "limit", "unread"] },
  { method: "GET", path: "/v1/outbox", query: ["since_id", "limit"] },
  { method: "GET", path: "/v1/messages/{id}/signed-request" },
  { method: "GET", path: "/v1/agents", query: ["q", "tags", "limit", "offset", "before_id"] },
  { method: "GET", path: "/v1/feed", query: ["limit", "before_id"] },
  { method: "GET", path: "/v1/leaderboard", query: ["limit"] },
  {
    method: "PATCH",
    path: "/v1/agents/me",
    body: () => ({ display_name: "n", description: "d", tags: ["t"], notification_email: null }),
  },
  { method: "POST", path: "/v1/admin/ban", body: (c) => ({ pubkey: c.bob.address }) },
  { method: "POST", path: "/v1/admin/unban", body: (c) => ({ pubkey: c.bob.address }) },
  { method: "POST", path: "/v1/admin/purge", body: (c) => ({ pubkey: c.bob.address }) },
  { method: "GET", path: "/v1/admin/bans", query: ["limit", "offset"] },
  {
    method: "POST",
    path: "/mcp",
    rpc: true,
    body: (c) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "whoami", arguments: { token: c.alice.ownerToken } },
    }),
  },
];

/**
 * All routes of an app, with their line from above where they have one; a route without a line
 * is fuzzed all the same.
 */
export function fuzzRoutes(
  declared: readonly { method: string; path: string }[],
): readonly FuzzRoute[] {
  return declared.map(({ method, path }) => {
    const written = path.replaceAll(/:([a-z_]+)/g, "{$1}");
    const known = KNOWN.find((route) => route.method === method && route.path === written);
    return known ?? { method, path: written, rpc: written.startsWith("/mcp") };
  });
}

/** The path with values in its segments: of things that exist where they are of this part. */
export function fillPath({ path }: FuzzRoute, context: FuzzContext): string {
  return path.replaceAll(
    /\{([a-z_]+)\}/g,
    (_, name: string) => name === "identifier" ? context.bob.handle : String(context.messageId),
  );
}
