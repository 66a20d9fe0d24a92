/**
 * No header, parameter, path or field of a body may take time beyond proportion to its length. Each
 * is sent 8, 16 and 32 KB of the worst input for patterns, and its times are compared.
 */
import assert from "node:assert/strict";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent, toBytes } from "../../support/test_agent.ts";
import { threadMs } from "../../support/thread_ms.ts";

const KIB = 1024;
const SIZES = [8 * KIB, 16 * KIB, 32 * KIB];
const RUNS = 5;
/** For four times the text a linear reader takes four times as long, a quadratic one sixteen times. */
const MOST_GROWTH = 9;
/** Shorter times are noise. */
const FLOOR_MS = 12;

/** Beginnings, what is repeated, and an end that makes a match fail late. */
const TEXTS: readonly (readonly [start: string, repeated: string, end: string])[] = [
  ["", "a", "!"],
  ["", "1", "x"],
  ["gzip;q=0.", "1", "x"],
  ["gzip;q=0.", "0", "x"],
  ["", " ", "x"],
  ["x", " ", "x"],
  ["text/html;q=0.", "0", "x"],
  ["", "text/html;", "x"],
  ["", ",", "x"],
  ["", ";", "x"],
  ["", "=", "x"],
  ["", "-", "!"],
  ["a", "-a", "!"],
  ["a@", "a.", "!"],
  ["", "@", "@"],
  ["", ".", "x"],
  ["", ":", "x"],
  ["::", "0:", "x"],
  ["Bearer ", " ", "\t"],
  ["Bearer ", "a", " "],
  ["", '"', "x"],
  ['W/"', '",W/"', "x"],
  ["http://", "a.", "/"],
  ["http://", ":", "x"],
  ["", "\\", "x"],
  ["", "%25", "%"],
  ["rt_owner_", "A", "!"],
  ["", "z", "0"],
];

const HEADERS = [
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Access-Control-Request-Headers",
  "Access-Control-Request-Method",
  "Authorization",
  "Connection",
  "Content-Encoding",
  "Content-Length",
  "Content-Type",
  "Cookie",
  "Host",
  "Idempotency-Key",
  "If-None-Match",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Session-Id",
  "MCP-Protocol-Version",
  "Origin",
  "X-Forwarded-For",
  "X-Relay-Envelope",
  "X-Relay-Pubkey",
  "X-Relay-Signature",
  "X-Relay-Timestamp",
  "X-Request-Id",
];

const QUERIES = [
  "/v1/agents?q=",
  "/v1/agents?tags=",
  "/v1/agents?limit=",
  "/v1/agents?before_id=",
  "/v1/agents?q=a&offset=",
  "/v1/inbox?since_id=",
  "/v1/inbox?limit=",
  "/v1/inbox?wait=",
  "/v1/inbox?unread=",
  "/v1/outbox?since_id=",
  "/v1/feed?before_id=",
  "/v1/leaderboard?limit=",
  "/v1/notifications/unsubscribe?token=",
  "/docs/reference.js?v=",
  "/network?before_id=",
  "/agents?tags=",
  "/agents?live=",
  "/health?",
];

const PATHS = ["/v1/agents/", "/v1/messages/", "/docs/", "/agents/", "/v1/", "/"];

const SEND = { to: "someone", body: "x" };
const REGISTER = { handle: "someone", pubkey: "x" };
const FIELDS: readonly [method: string, path: string, good: object, field: string][] = [
  ...["handle", "pubkey", "display_name", "description", "tags", "tags[]"].map((field) =>
    ["POST", "/v1/register", REGISTER, field] as [string, string, object, string]
  ),
  ...["display_name", "description", "tags", "tags[]", "notification_email"].map((field) =>
    ["PATCH", "/v1/agents/me", {}, field] as [string, string, object, string]
  ),
  ...["to", "body", "content_type", "in_reply_to"].map((field) =>
    ["POST", "/v1/messages", SEND, field] as [string, string, object, string]
  ),
  ["POST", "/v1/messages", { ...SEND, content_type: "json" }, "body"],
  ["POST", "/v1/admin/ban", {}, "pubkey"],
];
const TOOL_ARGUMENTS = [
  ["register", "handle"],
  ["register", "tags"],
  ["whoami", "token"],
  ["send_message", "to"],
  ["send_message", "body"],
  ["check_inbox", "since"],
  ["find_agents", "query"],
  ["find_agents", "tags"],
  ["update_profile", "notification_email"],
] as const;

type Ask = (text: string) => Request;

/** Everything that text can stand in, by its name. */
function places(relay: TestRelay, agent: TestAgent): Map<string, Ask> {
  const all = new Map<string, Ask>();
  const request = (path: string, init: RequestInit = {}) =>
    new Request(`${relay.url}${path}`, init);
  for (const name of HEADERS) {
    for (const [method, path] of [["GET", "/"], ["GET", "/openapi.json"], ["OPTIONS", "/"]]) {
      all.set(
        `${name} at ${method} ${path}`,
        (text) => request(path!, { method, headers: { [name]: text } }),
      );
    }
    all.set(`${name} at POST /v1/messages`, (text) => {
      const body = toBytes(SEND);
      const headers = { ...agent.sign("POST", "/v1/messages", body), [name]: text };
      return request("/v1/messages", { method: "POST", headers, body });
    });
    all.set(
      `${name} at POST /mcp`,
      (text) =>
        request("/mcp", {
          method: "POST",
          headers: { [name]: text },
          body: toolCall("whoami", {}),
        }),
    );
  }
  for (const path of QUERIES) {
    all.set(
      path,
      (text) =>
        request(path + encodeURIComponent(text), {
          headers: agent.sign("GET", path.split("?")[0]!),
        }),
    );
  }
  for (const path of PATHS) all.set(path, (text) => request(path + encodeURIComponent(text)));
  for (const [method, path, good, field] of FIELDS) {
    const name = field.replace("[]", "");
    all.set(`${field} at ${method} ${path}`, (text) => {
      const body = toBytes({ ...good, [name]: field.endsWith("[]") ? [text] : text });
      return request(path, { method, headers: agent.sign(method, path, body), body });
    });
  }
  for (const [tool, argument] of TOOL_ARGUMENTS) {
    all.set(
      `${argument} of ${tool}`,
      (text) => request("/mcp", { method: "POST", body: toolCall(tool, { [argument]: text }) }),
    );
  }
  return all;
}

function toolCall(name: string, args: object): string {
  const params = { name, arguments: args };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

/** Milliseconds until the answer, the least of some runs: what disturbs a run only makes it longer. */
async function leastMs(relay: TestRelay, ask: Ask, text: string, runs = RUNS): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < runs; run++) {
    const request = ask(text);
    const startMs = threadMs();
    const answer = await relay.relay.app.fetch(request, { remoteAddress: "192.0.2.1" });
    await answer.arrayBuffer();
    least = Math.min(least, threadMs() - startMs);
    if (least < FLOOR_MS) break;
  }
  return least;
}

Deno.test("no text takes time beyond proportion to its length, wherever a pattern reads it", async () => {
  await using relay = await startTestRelay({ config: { trustedProxyHops: 1 } });
  const agent = await registerAgent(relay, "patient");
  const slow: string[] = [];
  for (const [place, ask] of places(relay, agent)) {
    for (const [start, repeated, end] of TEXTS) {
      const textOf = (size: number) =>
        start + repeated.repeat(Math.ceil(size / repeated.length)).slice(0, size) + end;
      try {
        ask(textOf(1));
      } catch {
        continue; // no header can carry it
      }
      const longMs = await leastMs(relay, ask, textOf(SIZES[2]!));
      if (longMs < FLOOR_MS) continue;
      const [shortMs, middleMs] = [
        await leastMs(relay, ask, textOf(SIZES[0]!)),
        await leastMs(relay, ask, textOf(SIZES[1]!)),
      ];
      if (longMs / Math.max(shortMs, FLOOR_MS / 4) < MOST_GROWTH) continue;
      slow.push(`${place}, ${JSON.stringify(start + repeated)}: ${[shortMs, middleMs, longMs]} ms`);
    }
  }
  assert.deepEqual(slow, []);
});

Deno.test("the comparison of times would find a pattern that is quadratic", () => {
  const quadratic = /0\.\d*[1-9]\d*x?$/;
  const leastMsOf = (sizeBytes: number) => {
    const text = `0.${"1".repeat(sizeBytes)}!`;
    const times = Array.from({ length: RUNS }, () => {
      const startMs = threadMs();
      quadratic.test(text);
      return threadMs() - startMs;
    });
    return Math.min(...times);
  };
  const [shortMs, longMs] = [leastMsOf(4 * KIB), leastMsOf(16 * KIB)];
  const growth = longMs / Math.max(shortMs, FLOOR_MS / 4);
  assert.ok(longMs >= FLOOR_MS && growth >= MOST_GROWTH, `${shortMs}, ${longMs} ms`);
});
