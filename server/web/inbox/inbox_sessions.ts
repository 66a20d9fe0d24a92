/**
 * Sessions of the people behind agents. A session is a hash of the token that it was opened with, under a
 * MAC: it holds in every process of a store, writes nothing, and ends when that token is replaced.
 */
import { createHmac } from "node:crypto";
import { Buffer } from "node:buffer";
import { hashToken } from "../../base/http/callers/hashed_token.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import type { AgentCore } from "../../messaging/agents/agent_core.ts";
import { type Identity, tokenKey, type TokenRecord } from "../../messaging/agents/agent_records.ts";
import { isPlainLoopback } from "../../base/pages/own_origin.ts";
import { sentValues, type SessionCookie, writeCookie } from "../sessions/session_cookie.ts";
import { type OpenSession, SignedSessions } from "../sessions/signed_sessions.ts";

/** ["inbox-signed-out", agentId] */
interface SignedOutRow {
  v: 1;
  /** Sessions that name another one are over. */
  generation: string;
}

const signedOutKey = defineRow<[agentId: number]>(["inbox-signed-out"], 1, {
  holds: "which sessions of the page `/inbox` are good since somebody signed out there",
});

const SESSION_MS = 12 * HOUR_MS;
const GENERATION_BYTES = 16;
const BETWEEN = "~";

export interface OpenInbox {
  agent: Identity;
  session: OpenSession;
}

export class InboxSessions {
  readonly #signed: SignedSessions;

  constructor(private readonly core: AgentCore) {
    const key = createHmac("sha256", core.addressKey).update("relay:inbox-session").digest();
    this.#signed = new SignedSessions({ key, lifeMs: SESSION_MS, random: core.deps.random });
  }

  /**
   * The value of a new session's cookie. That somebody signs in does not count as a sight of the agent.
   * @throws RelayError `unknown_token`
   */
  async issue(token: string): Promise<string> {
    const { authenticator, store } = this.core;
    const { agent } = await authenticator.identifyToken(token);
    const subject = `${hashToken(token)}${BETWEEN}${await this.#generation(agent.id)}`;
    return this.#signed.issue(store.now(), subject);
  }

  /** The inbox that a request's session opens; null without one. */
  async find(headers: Headers): Promise<OpenInbox | null> {
    for (const value of sentTo(headers)) {
      const session = this.#signed.open(value, this.core.store.now());
      if (session === null) continue;
      const agent = await this.#agentOf(session);
      if (agent !== null) return { agent, session };
    }
    return null;
  }

  /** Ends every session of the agent, in all browsers. */
  async end({ agent }: OpenInbox): Promise<void> {
    const { store } = this.core;
    const generation = Buffer.from(store.random(GENERATION_BYTES)).toString("base64url");
    await store.transact((transaction) => {
      transaction.set(signedOutKey(agent.id), { v: 1, generation } satisfies SignedOutRow);
    });
  }

  formToken({ session }: OpenInbox, action: string): string {
    return this.#signed.formToken(session, action);
  }

  isFormToken({ session }: OpenInbox, action: string, token: string): boolean {
    return this.#signed.isFormToken(session, action, token);
  }

  async #agentOf({ subject }: OpenSession): Promise<Identity | null> {
    const { store, records, identities } = this.core;
    const [tokenHash = "", generation] = subject.split(BETWEEN);
    const key = tokenKey(tokenHash);
    if (!store.exclusive) records.refresh(key);
    const token = await records.read<TokenRecord>(key);
    if (token === null || await this.#generation(token.agentId) !== generation) return null;
    return await identities.byId(token.agentId);
  }

  async #generation(agentId: number): Promise<string> {
    const { value } = await this.core.store.get<SignedOutRow>(signedOutKey(agentId));
    return value?.generation ?? "";
  }
}

/** The prefix keeps other hosts of the same site from setting it (RFC 6265bis, section 4.1.3.2). */
const SECURE_NAME = "__Host-relay_inbox";
/** Where browsers take no secure cookie: over http on this machine. */
const PLAIN_NAME = "relay_inbox";

const cookieNamed = (name: string): SessionCookie => ({
  name,
  path: "/",
  sameSite: "Lax",
  maxAgeMs: SESSION_MS,
});

/** @param value null ends it; @param origin that the form was sent from */
export function inboxCookie(value: string | null, origin: string): string {
  const isSecure = !isPlainLoopback(origin);
  return writeCookie(cookieNamed(isSecure ? SECURE_NAME : PLAIN_NAME), value, isSecure);
}

function sentTo(headers: Headers): string[] {
  const address = `http://${headers.get("host") ?? ""}`;
  const isHere = URL.canParse(address) && isPlainLoopback(new URL(address).origin);
  return [...sentValues(headers, SECURE_NAME), ...isHere ? sentValues(headers, PLAIN_NAME) : []];
}
