/** API keys of the mail area as the store holds them, and as answers show them. */
import { makeHashedToken } from "../../base/http/callers/hashed_token.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { timestamp } from "../../base/time/timestamp.ts";

export type Permission = "inbox:read" | "inbox:write";
export const PERMISSIONS: readonly Permission[] = ["inbox:read", "inbox:write"];

export interface MailKey {
  /** `key_` and a ULID. */
  id: string;
  /** SHA-256 of the key, base64url. */
  hash: string;
  name: string;
  /** The first 12 characters of the key. */
  prefix: string;
  scope: "org" | "inbox";
  /** The one inbox of a key of scope inbox. */
  inboxId: string | null;
  permissions: readonly Permission[];
  createdAtMs: number;
  expiresAtMs: number | null;
  /** True for a key that a sign-in made: the least recently used of these makes room for the next. */
  signIn: boolean;
}

/** A key that may do everything in its org, without an end. */
export const OWNER_RIGHTS = {
  scope: "org",
  inboxId: null,
  permissions: PERMISSIONS,
  expiresAtMs: null,
} as const;

/** ["mail-keys", orgId]: all keys of an org, the oldest first. */
export interface KeysRecord {
  v: 1;
  keys: readonly MailKey[];
  /** Hashes of keys that left the list and whose rows are still to be erased, by the next commits. */
  dropped?: readonly string[];
}
export const keysKey = defineRecord<KeysRecord, [orgId: string]>(["mail-keys"], 1, {
  holds: "all API keys of an org, the oldest first, without the secrets; hashes of former " +
    "ones whose rows the next commits erase",
});

/** ["mail-key", hash]: whose key it is. What holds is the list of the org: a key that it lacks is none. */
export interface KeyOwnerRecord {
  v: 1;
  orgId: string;
}
export const keyOwnerKey = defineRecord<KeyOwnerRecord, [hash: string]>(["mail-key"], 1, {
  holds: "the org of a key; its list of keys is what holds",
});

const KEY_PREFIX = "rm_sk_";
const KEY = /^rm_sk_[A-Za-z0-9_-]{43}$/;
const SHOWN_CHARACTERS = 12;

/** The secret of a new key, shown to its holder once, and what the store keeps of it. */
export interface NewKeySecret {
  apiKey: string;
  hash: string;
  prefix: string;
}

export function makeKeySecret(random: (sizeBytes: number) => Uint8Array): NewKeySecret {
  const { token, hash } = makeHashedToken(KEY_PREFIX, random);
  return { apiKey: token, hash, prefix: token.slice(0, SHOWN_CHARACTERS) };
}

/** Whether text has the form of a mail key, somebody's or nobody's. */
export function isKeyForm(text: string): boolean {
  return KEY.test(text);
}

/** Whether a key may be used at a time. */
export function isLive({ expiresAtMs }: Pick<MailKey, "expiresAtMs">, nowMs: number): boolean {
  return expiresAtMs === null || nowMs < expiresAtMs;
}

/** Name of a key that a sign-in makes. */
export function signInKeyName(by: "magic" | "google", nowMs: number): string {
  return `${by} ${new Date(nowMs).toISOString().slice(0, 10)}`;
}

/** Whether a link in a mail made a key. */
export function isMagicKey({ signIn, name }: Pick<MailKey, "signIn" | "name">): boolean {
  return signIn && name.startsWith("magic ");
}

/** Whether a key can change an org: without such a key nobody could get in or make another. */
export function isOwnerKey(key: MailKey, nowMs: number): boolean {
  return key.scope === "org" && key.permissions.includes("inbox:write") && isLive(key, nowMs);
}

/** The record of a key as answers show it (docs/mail.md, "Keys"). */
export function shownKey(key: MailKey, lastUsedAtMs: number | null) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scope: key.scope,
    inbox_id: key.inboxId,
    permissions: key.permissions,
    created_at: timestamp(key.createdAtMs),
    expires_at: key.expiresAtMs === null ? null : timestamp(key.expiresAtMs),
    last_used_at: lastUsedAtMs === null ? null : timestamp(lastUsedAtMs),
  };
}
