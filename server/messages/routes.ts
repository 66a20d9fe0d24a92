/** POST /v1/messages, GET /v1/inbox, GET /v1/outbox, GET /v1/messages/{id}/signed-request. */
import type { Context } from "hono";
import type { Identities } from "../agents/identities.ts";
import type { Deps } from "../deps.ts";
import { RelayError } from "../errors.ts";
import { JSON_HEADERS, NO_STORE } from "../http/answer.ts";
import { whenReady } from "../http/when_ready.ts";
import { answerWhole } from "../http/large_answer.ts";
import type { Authenticator } from "../agents/authenticator.ts";
import { callerHash } from "../http/client_address.ts";
import { readObject } from "../http/json_body.ts";
import { flag, integer, readQuery } from "../http/query.ts";
import { readBody } from "../http/read_body.ts";
import type { HttpEnv, Route } from "../http/route.ts";
import { withCaller, withCallerAndBody } from "../http/with_caller.ts";
import { readIdempotencyKey } from "../idempotency/idempotency_key.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { timestamp } from "../timestamp.ts";
import { MAX_ID } from "../max_id.ts";
import { pageLimit } from "../http/page_limit.ts";
import { type Inbox, MAX_WAIT_S } from "./inbox/inbox.ts";
import type { PageBudget } from "./inbox/page_budget.ts";
import { encodePage } from "./inbox/inbox_reader.ts";
import { readOutbox } from "./outbox/outbox_page.ts";
import type { StoredMessages } from "./rows/stored_messages.ts";
import type { SendResult } from "./send/send_answer.ts";
import type { SignedSender } from "./send/signed_sender.ts";
import type { TokenSender } from "./send/token_sender.ts";

export interface MessageServices {
  deps: Deps;
  store: Store;
  records: RecordCache;
  identities: Identities;
  authenticator: Authenticator;
  signedSender: SignedSender;
  tokenSender: TokenSender;
  inbox: Inbox;
  messages: StoredMessages;
  pages: PageBudget;
  /** Secret under which client addresses are hashed, 32 bytes. */
  addressKey: Uint8Array;
}

// A mailbox is its owner's: signature headers do not keep a cache between from mixing agents up.
const PAGE_HEADERS = { ...JSON_HEADERS, ...NO_STORE };

const PAGE_QUERY = {
  since_id: integer(0, MAX_ID, 0),
  limit: pageLimit(),
};
const INBOX_QUERY = { ...PAGE_QUERY, unread: flag(), wait: integer(0, MAX_WAIT_S, 0) };

export function messageRoutes(services: MessageServices): Route[] {
  const { authenticator, inbox, messages, pages, signedSender, tokenSender, deps, addressKey } =
    services;
  const { authenticate } = authenticator; // Check 2
  const { pageBytes, rawBodyBytes } = deps.config.limits;
  const hashOf = (c: Context<HttpEnv>) => callerHash(c, addressKey, deps.config.trustedProxyHops);
  return [
    {
      method: "POST",
      path: "/v1/messages",
      body: { limitBytes: rawBodyBytes, pool: "messages" }, // Check 1
      // What becomes of a send, and in which order, is told in send/sender.ts.
      handle: withCallerAndBody(authenticate, readBody, async (c, { agent, credential }, raw) => {
        if (credential.kind === "signature") {
          return answerSend(await signedSender.send(agent, credential, raw, () => hashOf(c)));
        }
        await tokenSender.refuseToken(agent, credential.kind);
        const key = readIdempotencyKey(c.req.raw.headers); // Check 4
        return answerSend(await tokenSender.send(agent, readObject(raw), key, hashOf(c)));
      }),
    },
    {
      method: "GET",
      path: "/v1/inbox",
      handle: withCaller(authenticate, (c, { agent, credential }) => {
        const { since_id, limit, unread, wait } = readQuery(c.get("query"), INBOX_QUERY);
        if (c.get("head")) return new Response(null, { headers: PAGE_HEADERS });
        const query = {
          sinceId: since_id,
          limit,
          unread,
          waitMs: wait * 1000,
          maxBytes: pageBytes,
        };
        // A signature grows old while its poll waits, but nothing takes it back; a token can die.
        const confirm = credential.kind === "signature"
          ? undefined
          : () => authenticator.identify(c);
        const page = inbox.poll(agent.id, query, () => c.req.raw.signal, confirm);
        return whenReady(page, (page) => {
          if (page.reservation !== null) c.set("reservation", page.reservation);
          return answerPage(encodePage(page));
        });
      }),
    },
    {
      method: "GET",
      path: "/v1/outbox",
      handle: withCaller(authenticate, async (c, { agent }) => {
        const { since_id, limit } = readQuery(c.get("query"), PAGE_QUERY);
        if (c.get("head")) return new Response(null, { headers: PAGE_HEADERS });
        const reservation = await pages.begin(agent.id);
        c.set("reservation", reservation);
        const query = { sinceId: since_id, limit, maxBytes: pageBytes };
        const page = await readOutbox(services, agent.id, query);
        reservation.reserve(page.length);
        reservation.endReading();
        return answerPage(page);
      }),
    },
    {
      method: "GET",
      path: "/v1/messages/{id}/signed-request",
      handle: withCaller(authenticate, async (c, { agent }) => {
        const id = requireMessageId(c);
        const headers = { "Content-Type": "application/json", ...NO_STORE };
        if (c.get("head")) return new Response(null, { headers });
        const reservation = await pages.begin(agent.id);
        c.set("reservation", reservation);
        const request = await messages.signedRequest(agent.id, id);
        reservation.reserve(request.length);
        reservation.endReading();
        return answerWhole(request, { headers });
      }),
    },
  ];
}

/**
 * A page for its owner. It begins with one header and app.ts adds others: of an answer with several
 * headers the runtime prepares at once what it would send, in vain.
 */
function answerPage(content: string | Uint8Array<ArrayBuffer>): Response {
  const answer = answerWhole(content, { headers: JSON_HEADERS });
  answer.headers.set("Cache-Control", "no-store");
  return answer;
}

function requireMessageId(c: Context<HttpEnv>): number {
  const text = c.get("path").split("/")[3]!;
  const id = Number(text);
  if (/^[1-9][0-9]{0,15}$/.test(text) && id <= MAX_ID) return id;
  throw new RelayError("not_found", "a message id is an integer from 1 to 2^53-1");
}

function answerSend({ answer, replayed }: SendResult): Response {
  return new Response(
    `{"id":${answer.id},"content_hash":"${answer.contentHash}",` +
      `"created_at":"${timestamp(answer.createdAtMs)}"}`,
    {
      status: 201,
      headers: replayed ? { ...JSON_HEADERS, "Idempotent-Replayed": "true" } : JSON_HEADERS,
    },
  );
}
