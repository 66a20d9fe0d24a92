/** The key that a sign-in makes (mail page, "Keys"). */
import type { Turn } from "../../storage/job.ts";
import { DAY_MS } from "../../time_units.ts";
import {
  keysKey,
  type MailKey,
  type NewKeySecret,
  PERMISSIONS,
  signInKeyName,
} from "../records/key_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import { putKeys } from "./put_keys.ts";

export const SIGN_IN_KEYS = 10;

export interface SignInKey {
  secret: NewKeySecret;
  /** How the holder signed in; with the date it names the key. */
  by: "magic" | "google";
  /** When keys of the org were last used, unix ms. */
  usedAtMs: ReadonlyMap<string, number | null>;
  /** As sweptHashes() gives them. */
  swept: readonly string[];
}

/**
 * Adds a key to an org, in a job that has the records of its keys and of this one's owner. Of ten
 * sign-in keys the least recently used makes room, one that was used within a day last.
 * @returns the key, and those that went
 */
export function stageSignInKey(
  turn: Turn,
  orgId: string,
  { secret: { hash, prefix }, by, usedAtMs, swept }: SignInKey,
  random: (sizeBytes: number) => Uint8Array,
): { made: MailKey; gone: readonly MailKey[] } {
  const keys = turn.record(keysKey(orgId))?.keys ?? [];
  const made: MailKey = {
    id: makeMailId("key", turn.nowMs, random),
    hash,
    name: signInKeyName(by, turn.nowMs),
    prefix,
    scope: "org",
    inboxId: null,
    permissions: PERMISSIONS,
    createdAtMs: turn.nowMs,
    expiresAtMs: null,
    signIn: true,
  };
  const gone = leavingKeys(keys, usedAtMs, turn.nowMs);
  putKeys(turn, orgId, [...keys.filter((key) => !gone.includes(key)), made], swept);
  return { made, gone };
}

/**
 * The sign-in keys that leave for one more: those that nobody used within a day, and only then the
 * others, the least recently used first. One that was never used counts from its making. Pure.
 */
export function leavingKeys(
  keys: readonly MailKey[],
  usedAtMs: ReadonlyMap<string, number | null>,
  nowMs: number,
): MailKey[] {
  const lastMs = ({ id, createdAtMs }: MailKey) => usedAtMs.get(id) ?? createdAtMs;
  const isInUse = ({ id }: MailKey) => nowMs - (usedAtMs.get(id) ?? -Infinity) < DAY_MS;
  const others = keys.filter(({ signIn }) => signIn).toSorted((a, b) =>
    Number(isInUse(a)) - Number(isInUse(b)) || lastMs(a) - lastMs(b)
  );
  return others.slice(0, Math.max(0, others.length - (SIGN_IN_KEYS - 1)));
}
