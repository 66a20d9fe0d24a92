/**
 * Sessions of people who look at their mail in a browser (docs/mail.md, "The mailbox"). A session stands
 * for a key: it may what the key may, and dies with it and with its org. The store has the hash of
 * its secret alone.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { isLoopback } from "../../base/config/loopback.ts";
import type { Limits } from "../../base/config/limits.ts";
import { hashToken } from "../../base/http/callers/hashed_token.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import {
  findCaller,
  type MailCaller,
  requireLive,
  requireOpen,
  unknownKey,
} from "../access/authenticate_key.ts";
import { requireCaller } from "../access/require_org.ts";
import { isKeyForm, isOwnerKey, keysKey, type KeysRecord } from "../records/key_record.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";

export const SESSION_MS = 12 * HOUR_MS;

/** How a session began. */
export type SessionWay = "magic" | "google" | "key";

export interface MailSessionRow {
  v: 1;
  keyId: string;
  way: SessionWay;
  /** The address that a link proved: what orgs it may be switched to. Null for other ways. */
  email: string | null;
  beganAtMs: number;
  untilMs: number;
}

export const mailSessionKey = defineRow<[orgId: string, secretHash: string]>(
  ["mail-session"],
  2,
  { holds: "a session in a browser, by the hash of its secret", expires: "12 h" },
);

/** A session that is open. */
export interface OpenSession {
  caller: MailCaller;
  row: MailSessionRow;
  /** What its cookie carries. */
  value: string;
}

/** The ULID of the org, then 32 random bytes. */
const VALUE = /^([0-7][0-9A-HJKMNP-TV-Z]{25})\.([A-Za-z0-9_-]{43})$/;
const ROWS_A_COMMIT = 80;
/** Sessions of one key: whoever has it must not fill the store with more. */
const SESSIONS_A_KEY = 20;

export interface MailSessionsOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  limits: Limits;
}

export class MailSessions {
  constructor(private readonly options: MailSessionsOptions) {}

  /**
   * Begins a session of a key; of twenty the oldest makes room.
   * @returns the value of its cookie
   * @throws RelayError `unknown_key`, `expired_key`, `trial_expired`, `org_suspended`
   */
  async begin(apiKey: string, way: SessionWay, email: string | null = null): Promise<string> {
    const { store, limits, commits } = this.options;
    const caller = isKeyForm(apiKey) ? await findCaller(this.options, hashToken(apiKey)) : null;
    if (caller === null) throw unknownKey();
    requireLive(caller.key, store.now());
    requireOpen(caller.org, store.now(), limits, false);
    const secret = Buffer.from(store.random(32)).toString("base64url");
    const beganAtMs = store.now();
    const row: MailSessionRow = {
      v: 1,
      keyId: caller.key.id,
      way,
      email,
      beganAtMs,
      untilMs: beganAtMs + SESSION_MS,
    };
    const orgId = caller.org.id;
    const leaving = await this.#leavingFor(caller);
    // An org that is gone gets no row any more: its erasure misses nothing.
    await commits.submit((transaction) => {
      requireCaller(transaction, caller, limits);
      for (const key of leaving) transaction.delete(key);
      transaction.set(mailSessionKey(orgId, hashToken(secret)), row, SESSION_MS);
    });
    return `${orgId.slice("org_".length)}.${secret}`;
  }

  /** The session of a cookie, and whose it is now; null where it has ended, or its key or org has. */
  async find(value: string): Promise<OpenSession | null> {
    const key = rowKeyOf(value);
    if (key === null) return null;
    const { store, records, limits } = this.options;
    const { value: row } = await store.get<MailSessionRow>(key);
    const nowMs = store.now();
    // A clock that was set back must not make a session longer.
    const isOpen = row !== null && nowMs < row.untilMs && row.untilMs - nowMs <= SESSION_MS;
    if (!isOpen) return null;
    const orgId = key[1] as string;
    const [org, keys] = await Promise.all([
      records.read<OrgRecord>(orgKey(orgId)),
      records.read<KeysRecord>(keysKey(orgId)),
    ]);
    const held = keys?.keys.find(({ id }) => id === row.keyId);
    if (org === null || held === undefined || orgState(org, nowMs, limits) === "gone") return null;
    if (held.expiresAtMs !== null && nowMs >= held.expiresAtMs) return null;
    return { caller: { org, key: held }, row, value };
  }

  /** The session that a request brings; null for none. */
  async findIn(headers: Headers): Promise<OpenSession | null> {
    for (const value of sentMailSessions(headers)) {
      const open = await this.find(value);
      if (open !== null) return open;
    }
    return null;
  }

  /**
   * As find(), for every step of what a session asks for.
   * @throws RelayError `unknown_key` where it has ended
   */
  async require(value: string): Promise<MailCaller> {
    const open = await this.find(value);
    if (open === null) throw unknownKey();
    return open.caller;
  }

  /** Ends a session. One that is none, or has ended, is left as it is. */
  async end(value: string): Promise<void> {
    const key = rowKeyOf(value);
    if (key !== null) await this.#end([key]);
  }

  /**
   * Ends all other sessions of an org; of a key that may not manage the org, its own alone.
   * @returns ids of keys that a sign-in made for one of them
   */
  async endOthers({ caller: { org, key }, value: own }: OpenSession): Promise<string[]> {
    const { store } = this.options;
    const mayAll = isOwnerKey(key, store.now());
    const ownHash = rowKeyOf(own)?.at(-1);
    const rows = await this.#rowsOf(org.id);
    const ended = rows.filter((row) =>
      row.key.at(-1) !== ownHash && (mayAll || row.value.keyId === key.id)
    );
    await this.#end(ended.map((row) => row.key));
    return [
      ...new Set(
        ended.filter(({ value: { way } }) => way !== "key").map(({ value }) => value.keyId),
      ),
    ];
  }

  #rowsOf(orgId: string) {
    return this.options.store.list<MailSessionRow>({ prefix: mailSessionKey.under(orgId) });
  }

  /** Sessions that leave when another of a key begins: its oldest, and those of keys that have gone. */
  async #leavingFor({ org, key }: MailCaller): Promise<Deno.KvKey[]> {
    const rows = await this.#rowsOf(org.id);
    const keys = (await this.options.records.read<KeysRecord>(keysKey(org.id)))?.keys ?? [];
    const known = new Set(keys.map(({ id }) => id));
    const own = rows.filter(({ value }) => value.keyId === key.id)
      .toSorted((one, other) => other.value.beganAtMs - one.value.beganAtMs);
    return [
      ...rows.filter(({ value }) => !known.has(value.keyId)),
      ...own.slice(SESSIONS_A_KEY - 1),
    ].slice(0, ROWS_A_COMMIT).map((row) => row.key);
  }

  async #end(keys: readonly Deno.KvKey[]): Promise<void> {
    for (let from = 0; from < keys.length; from += ROWS_A_COMMIT) {
      const some = keys.slice(from, from + ROWS_A_COMMIT);
      await this.options.commits.submit((transaction) => {
        for (const key of some) transaction.delete(key);
      });
    }
  }
}

function rowKeyOf(value: string): Deno.KvKey | null {
  const match = VALUE.exec(value);
  return match === null ? null : mailSessionKey(`org_${match[1]}`, hashToken(match[2]!));
}

/**
 * What a form of a session carries: made of the session's secret and of where the form goes, so that one
 * form's is none of another's, and nobody else can make it. Pure.
 * @param value of the session's cookie
 */
export function formToken(value: string, action: string): string {
  return createHmac("sha256", value).update(`relay:mail-form:${action}`).digest("base64url");
}

/** Whether a token is that of a form, in the same time for each. Pure. */
export function isFormToken(value: string, action: string, given: string): boolean {
  const [own, other] = [Buffer.from(formToken(value, action)), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

/** The cookie of a session: under TLS no other host can set it, and no page of http. */
const NAME = "__Host-relay_mail";
/** Over http on this machine, where browsers take no cookie of the other name. */
const LOOPBACK_NAME = "relay_mail";
/** Values of a name that a browser sends; a header with more is none of ours. */
const MAX_VALUES = 4;

/** Set-Cookie for a session; for "" one that has a browser forget it. @param isSecure false on plain-http loopback */
export function mailCookie(value: string, isSecure: boolean): string {
  const age = value === "" ? 0 : SESSION_MS / 1000;
  return `${
    isSecure ? NAME : LOOPBACK_NAME
  }=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax` +
    (isSecure ? "; Secure" : "");
}

/** Whether a request was sent to a name of this machine. */
export function isToLoopback(headers: Headers): boolean {
  const url = URL.parse(`http://${headers.get("host")}`);
  return url !== null && isLoopback(url.hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** What a request sends as its session: beyond this machine only the name that no page of http can have set. */
export function sentMailSessions(headers: Headers): string[] {
  const names = isToLoopback(headers) ? [NAME, LOOPBACK_NAME] : [NAME];
  const pairs = (headers.get("cookie") ?? "").split(/;\s*/);
  return names.flatMap((name) =>
    pairs.filter((pair) => pair.startsWith(`${name}=`)).slice(0, MAX_VALUES)
      .map((pair) => pair.slice(name.length + 1))
  );
}
