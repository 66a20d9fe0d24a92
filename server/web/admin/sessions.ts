/**
 * Sessions of the operator's pages. Their key is made of a secret of the store and of the admin token, so
 * that a session tells nothing of the token, and ends when the token is changed.
 */
import { createHmac } from "node:crypto";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { sentValues, type SessionCookie, writeCookie } from "../sessions/session_cookie.ts";
import { SignedSessions } from "../sessions/signed_sessions.ts";

export const SESSION_MS = HOUR_MS;

/** Sessions that were signed out in their hour; beyond it the oldest is forgotten. */
const REVOKED = 1_000;

export interface SessionsOptions {
  adminToken: string;
  /** Secret of the store, 32 bytes. */
  storeKey: Uint8Array;
  random: (sizeBytes: number) => Uint8Array;
}

export class Sessions {
  readonly #signed: SignedSessions;
  /** Ids that this process has signed out. */
  readonly #revoked = new BoundedMap<string, true>(REVOKED);

  constructor({ adminToken, storeKey, random }: SessionsOptions) {
    const key = createHmac("sha256", storeKey).update(`relay:admin-session:${adminToken}`).digest();
    this.#signed = new SignedSessions({ key, lifeMs: SESSION_MS, random });
  }

  /** The value of a new session's cookie. @param nowMs Unix milliseconds */
  issue(nowMs: number): string {
    return this.#signed.issue(nowMs);
  }

  /** Whether the value belongs to a session that has neither ended nor been signed out here. */
  isOpen(value: string, nowMs: number): boolean {
    const session = this.#signed.open(value, nowMs);
    return session !== null && this.#revoked.get(session.id) === undefined;
  }

  /** Ends a session in this process. Others take it until its hour is over. */
  revoke(value: string, nowMs: number): void {
    const session = this.#signed.open(value, nowMs);
    if (session !== null) this.#revoked.set(session.id, true);
  }
}

/** Sent to nothing but the operator's pages. */
const COOKIE: SessionCookie = {
  name: "relay_admin",
  path: "/admin",
  sameSite: "Strict",
  maxAgeMs: SESSION_MS,
};

/** @param value null ends it; @param isSecure as writeCookie() takes it */
export function sessionCookie(value: string | null, isSecure: boolean): string {
  return writeCookie(COOKIE, value, isSecure);
}

export function sentSessions(headers: Headers): string[] {
  return sentValues(headers, COOKIE.name);
}
