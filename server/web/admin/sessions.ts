/**
 * Sessions of the operator's pages. A session is a time and a random id under a MAC, and no row: the
 * pages have to open when the disk is full and nothing can be written. The key of the MAC is made of
 * a secret of the store and of the admin token, so that a session holds in every process of a store,
 * tells nothing of the token, and ends when the token is changed.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";

export const SESSION_MS = HOUR_MS;

const FORM = /^1\.([0-9]{1,15})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;
const ID_BYTES = 16;
/** Sessions that were signed out in their hour; beyond it the oldest is forgotten. */
const REVOKED = 1_000;

export interface SessionsOptions {
  adminToken: string;
  /** Secret of the store, 32 bytes. */
  storeKey: Uint8Array;
  random: (sizeBytes: number) => Uint8Array;
}

export class Sessions {
  readonly #key: Uint8Array;
  /** Ids that this process has signed out. */
  readonly #revoked = new BoundedMap<string, true>(REVOKED);

  constructor(private readonly options: SessionsOptions) {
    const { adminToken, storeKey } = options;
    this.#key = createHmac("sha256", storeKey).update(`relay:admin-session:${adminToken}`).digest();
  }

  /** The value of a new session's cookie. @param nowMs Unix milliseconds */
  issue(nowMs: number): string {
    const id = Buffer.from(this.options.random(ID_BYTES)).toString("base64url");
    const signed = `1.${nowMs + SESSION_MS}.${id}`;
    return `${signed}.${this.#mac(signed)}`;
  }

  /** Whether the value belongs to a session that has neither ended nor been signed out here. */
  isOpen(value: string, nowMs: number): boolean {
    const match = FORM.exec(value);
    if (match === null) return false;
    const [, endMs, id, mac] = match;
    const signed = value.slice(0, value.lastIndexOf("."));
    if (!timingSafeEqual(Buffer.from(this.#mac(signed)), Buffer.from(mac!))) return false;
    // A clock that was set back must not make a session longer than its hour.
    const leftMs = Number(endMs) - nowMs;
    return leftMs > 0 && leftMs <= SESSION_MS && this.#revoked.get(id!) === undefined;
  }

  /** Ends a session in this process. Others take it until its hour is over. */
  revoke(value: string): void {
    const id = FORM.exec(value)?.[2];
    if (id !== undefined) this.#revoked.set(id, true);
  }

  #mac(signed: string): string {
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}

/** The cookie that carries a session. */
const NAME = "relay_admin";
/** Values of that name that a browser sends; a header with more is none of ours. */
const MAX_VALUES = 4;

/**
 * Set-Cookie for a session, sent to nothing but the operator's pages.
 * @param isSecure false where the relay is used over http on this machine
 */
export function sessionCookie(value: string, isSecure: boolean): string {
  return cookie(value, SESSION_MS / 1000, isSecure);
}

/** Set-Cookie that has a browser forget the session. */
export function endedCookie(isSecure: boolean): string {
  return cookie("", 0, isSecure);
}

/** What a request sends under the cookie's name: several where another path or host set one too. */
export function sentSessions(headers: Headers): string[] {
  return (headers.get("cookie") ?? "").split(/;\s*/)
    .filter((pair) => pair.startsWith(`${NAME}=`))
    .slice(0, MAX_VALUES)
    .map((pair) => pair.slice(NAME.length + 1));
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${NAME}=${value}; Path=/admin; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict` +
    (isSecure ? "; Secure" : "");
}
