/** A request to each route of a relay that gets as far as the store. */
import { fillPath, type FuzzContext, type FuzzRoute, fuzzRoutes } from "../fuzz/fuzz_routes.ts";
import type { MailKeyHolder } from "./mail_caller.ts";
import { registerAgent, type Target, TestAgent, toBytes } from "./test_agent.ts";
import { send } from "./sending_org.ts";

/** What changes too much for the routes after it. */
const LAST = /^(?:POST \/v1\/admin\/|DELETE |PATCH \/v1\/agents\/me)/;
/**
 * GET /health/db answers 500 where the store does not answer, as the specification says; GET /dev/live is a
 * stream without an end, which asks no store (tests/web/dev has it).
 */
const OWN_WORDS = /^GET \/(?:health\/db|dev\/live)$/;
/** Bodies that reach the store, where `{}` is refused before. */
const MAIL_BODIES: Readonly<Record<string, unknown>> = {
  "POST /v1/mail/org/magic": { email: "owner@example.org" },
  "POST /v1/mail/org/claim": { email: "owner@example.org" },
  "POST /v1/mail/inboxes/{id}/messages/send": { to: ["a@example.org"], subject: "s", text: "t" },
  "POST /v1/mail/inboxes/{id}/drafts": { to: ["a@example.org"], subject: "s", text: "t" },
  "POST /v1/mail/messages/{id}/reply": { text: "t" },
  "POST /v1/mail/messages/{id}/forward": { to: ["a@example.org"] },
  "PATCH /v1/mail/messages/{id}": { read: true },
  "PATCH /v1/mail/threads/{id}": { read: true },
  "PATCH /v1/mail/inboxes/{id}": { display_name: "n" },
  "POST /v1/mail/api-keys": { label: "k" },
};

/** All routes but those that say otherwise of a store that is away; what changes much comes last. */
export function routesToStore(
  declared: readonly { method: string; path: string }[],
): readonly FuzzRoute[] {
  const order = (route: FuzzRoute) => LAST.test(nameOf(route)) ? 1 : 0;
  return [...fuzzRoutes(declared)]
    .filter((route) => !OWN_WORDS.test(nameOf(route)))
    .sort((a, b) => order(a) - order(b));
}

export function nameOf({ method, path }: FuzzRoute): string {
  return `${method} ${path}`;
}

/**
 * Registers two agents, and makes an inbox with a draft and a message, for good requests to every route.
 * @returns makes a new one
 */
export async function storeRequests(
  target: Target,
  org: MailKeyHolder,
  adminToken: string,
): Promise<(route: FuzzRoute) => Request> {
  const alice = await registerAgent(target, "route_alice");
  const bob = await registerAgent(target, "route_bob");
  let strangers = 0;
  const context: FuzzContext = {
    alice,
    bob,
    messageId: await alice.sent({ to: bob.handle, body: "before" }),
    unregistered: () => ({
      handle: `stranger_${++strangers}`,
      pubkey: new TestAgent(target).address,
    }),
  };
  const inbox = await org.inbox();
  const draftBody = MAIL_BODIES["POST /v1/mail/inboxes/{id}/drafts"];
  const draft = await org.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, { body: draftBody });
  // Longer than a row: its text is a blob.
  const { body: sent } = await send(org, inbox, { text: "long ".repeat(40_000) });

  const idOf = (path: string) =>
    path.includes("drafts/")
      ? draft.body.id
      : path.includes("messages/{id}")
      ? sent.id
      : path.includes("threads/")
      ? sent.thread_id
      : inbox.id;

  return (route) => {
    const isMail = route.path.includes("/mail");
    const path = isMail
      ? route.path.replace("{id}", idOf(route.path)).replace(/\{[a-z_]+\}/, "x")
      : fillPath(route, context);
    const body = route.method === "GET" ? undefined : toBytes(
      isMail ? JSON.stringify(MAIL_BODIES[nameOf(route)] ?? {}) : route.body?.(context) ?? {},
    );
    const headers = path.startsWith("/v1/admin/")
      ? { Authorization: `Bearer ${adminToken}` }
      : isMail
      ? { Authorization: `Bearer ${org.key}`, "Content-Type": "application/json" }
      : route.rpc
      ? { "Content-Type": "application/json", Accept: "application/json, text/event-stream" }
      : alice.sign(route.method, path, body, alice.unusedTimestamp(body ?? toBytes("")));
    return new Request(new URL(path, target.url), { method: route.method, headers, body });
  };
}
