/** POST /v1/messages, GET /v1/inbox, GET /v1/outbox, GET /v1/messages/{id}/signed-request. */
import type { Context } from "hono";
import type { Identities } from "../agents/identities.ts";
import type { Identity } from "../agents/records.ts";
import type { Deps } from "../deps.ts";
import { RelayError } from "../errors.ts";
import { JSON_HEADERS, NO_STORE } from "../http/answer.ts";
import { answerWhole } from "../http/large_answer.ts";
import type { Authenticator, SignatureCredential } from "../agents/authenticate.ts";
import type { ReadBody } from "../http/body.ts";
import { callerHash } from "../http/client_address.ts";
import { readObject } from "../http/json_body.ts";
import { flag, integer, readQuery } from "../http/query.ts";
import type { HttpEnv, Route } from "../http/route.ts";
import { outKey, type OutRecord } from "../mailboxes/records.ts";
import type { FreeDisk } from "../storage/free_disk.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { timestamp } from "../timestamp.ts";
import { MAX_ID } from "../max_id.ts";
import { pageLimit } from "../http/page_limit.ts";
import { type Inbox, MAX_WAIT_S } from "./inbox/inbox.ts";
import type { PagesInHand } from "./inbox/pages_in_hand.ts";
import { encodePage } from "./inbox/inbox_reader.ts";
import { readOutbox } from "./outbox/outbox_page.ts";
import { requireIdempotencyKey } from "./send/idempotency.ts";
import type { SendAnswer, Sender } from "./send/send.ts";
import { refuseSender, unknownRecipient } from "./send/send_refusals.ts";
import { readSendRequest } from "./send/send_request.ts";
import type { StoredMessages } from "./rows/stored_messages.ts";
import type { TokenSendAnswer, TokenSender } from "./send/token_send.ts";

export interface MessageServices {
  deps: Deps;
  store: Store;
  records: RecordCache;
  identities: Identities;
  authenticator: Authenticator;
  readBody: ReadBody;
  sender: Sender;
  tokenSender: TokenSender;
  inbox: Inbox;
  messages: StoredMessages;
  pages: PagesInHand;
  freeDisk: FreeDisk;
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
  const { authenticator, readBody, inbox, messages, pages, tokenSender, deps, addressKey } =
    services;
  const { pageBytes } = deps.config.limits;
  const hashOf = (c: Context<HttpEnv>) => callerHash(c, addressKey, deps.config.trustedProxyHops);
  return [
    {
      method: "POST",
      path: "/v1/messages",
      async handle(c) {
        const raw = await readBody(c.req.raw, deps.config.limits.rawBodyBytes);
        const { agent, credential } = await authenticator.authenticate(c, raw);
        if (credential.kind === "signature") {
          const answer = await sendSigned(services, agent, credential, raw, () => hashOf(c));
          return answerSend(answer, !("kind" in answer));
        }
        await tokenSender.refuseToken(agent, credential.kind);
        const key = readIdempotencyKey(c);
        const { answer, replayed } = await tokenSender.send(agent, readObject(raw), key, hashOf(c));
        return answerSend(answer, replayed);
      },
    },
    {
      method: "GET",
      path: "/v1/inbox",
      async handle(c) {
        const { agent, credential } = await authenticator.authenticate(c);
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
        const page = await inbox.poll(agent.id, query, () => c.req.raw.signal, confirm);
        if (page.hand !== null) c.set("hold", page.hand);
        return answerWhole(encodePage(page), { headers: PAGE_HEADERS });
      },
    },
    {
      method: "GET",
      path: "/v1/outbox",
      async handle(c) {
        const { agent } = await authenticator.authenticate(c);
        const { since_id, limit } = readQuery(c.get("query"), PAGE_QUERY);
        if (c.get("head")) return new Response(null, { headers: PAGE_HEADERS });
        const hand = await pages.begin(agent.id);
        c.set("hold", hand);
        const query = { sinceId: since_id, limit, maxBytes: pageBytes };
        const page = await readOutbox(services, agent.id, query);
        hand.reserve(page.length);
        hand.endReading();
        return answerWhole(page, { headers: PAGE_HEADERS });
      },
    },
    {
      method: "GET",
      path: "/v1/messages/{id}/signed-request",
      async handle(c) {
        const { agent } = await authenticator.authenticate(c);
        const id = requireMessageId(c);
        const headers = { "Content-Type": "application/json", ...NO_STORE };
        if (c.get("head")) return new Response(null, { headers });
        const hand = await pages.begin(agent.id);
        c.set("hold", hand);
        const request = await messages.signedRequest(agent.id, id);
        hand.reserve(request.length);
        hand.endReading();
        return answerWhole(request, { headers });
      },
    },
  ];
}

function requireMessageId(c: Context<HttpEnv>): number {
  const text = c.get("path").split("/")[3]!;
  const id = Number(text);
  if (/^[1-9][0-9]{0,15}$/.test(text) && id <= MAX_ID) return id;
  throw new RelayError("not_found", "a message id is an integer from 1 to 2^53-1");
}

function readIdempotencyKey(c: Context<HttpEnv>): string | null {
  const given = c.req.raw.headers.get("idempotency-key");
  return given === null ? null : requireIdempotencyKey(given, "the header Idempotency-Key");
}

async function sendSigned(
  services: MessageServices,
  agent: Identity,
  { use, canonicalString }: SignatureCredential,
  raw: Uint8Array,
  addressHash: () => string,
): Promise<SendAnswer> {
  const { sender, records, identities, store, deps, freeDisk } = services;
  const remembered = sender.remembers(agent.id, use);
  // Where the store is shared, the commit decides on a ban, or what is read before an answer.
  if (store.exclusive || remembered) {
    refuseSender((await records.read<OutRecord>(outKey(agent.id)))!, false);
  }
  if (remembered) {
    const answer = await sender.answered(agent.id, use);
    if (answer !== null) return answer;
  }
  try {
    const request = readSendRequest(raw, deps.config.limits.bodyBytes);
    const recipient = await identities.resolve(request.to);
    if (recipient === null) throw unknownRecipient();
    await freeDisk.refuseWhenFull();
    return await sender.send({
      sender: agent,
      recipient,
      request,
      raw,
      use,
      canonicalString,
      bearer: false,
      addressHash: addressHash(),
    });
  } catch (error) {
    if (!(error instanceof RelayError) || !sender.isUnknown(use)) throw error;
    // Only the store knows whether the agent is banned and whether this send was accepted before.
    const current = await records.read<OutRecord>(outKey(agent.id));
    refuseSender(current!, false);
    const answer = await sender.answered(agent.id, use);
    if (answer !== null) return answer;
    throw error;
  }
}

function answerSend(answer: TokenSendAnswer["answer"], replayed: boolean): Response {
  return new Response(
    `{"id":${answer.id},"content_hash":"${answer.contentHash}",` +
      `"created_at":"${timestamp(answer.createdAtMs)}"}`,
    {
      status: 201,
      headers: replayed ? { ...JSON_HEADERS, "Idempotent-Replayed": "true" } : JSON_HEADERS,
    },
  );
}
