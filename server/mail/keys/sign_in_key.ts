/** The key that a sign-in makes (docs/mail.md, "Signing in"). */
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import {
  keysKey,
  type KeysRecord,
  type MailKey,
  type NewKeySecret,
  OWNER_RIGHTS,
  signInKeyName,
} from "../records/key_record.ts";
import type { LastUsed } from "../access/last_used.ts";
import { addKey } from "../access/put_keys.ts";

export const SIGN_IN_KEYS = 10;

/** When keys of an org were last used, unix ms, by their ids. */
export type KeyUses = ReadonlyMap<string, number | null>;

/**
 * What stageSignInKey() is to know of the keys that sign-ins made before. One that another makes
 * meanwhile counts from its making.
 */
export async function readKeyUses(
  { records, lastUsed }: { records: Pick<RecordCache, "read">; lastUsed: LastUsed },
  orgId: string | null,
): Promise<KeyUses> {
  if (orgId === null) return new Map();
  const keys = (await records.read<KeysRecord>(keysKey(orgId)))?.keys ?? [];
  return await lastUsed.read(orgId, keys.filter(({ signIn }) => signIn).map(({ id }) => id));
}

/**
 * Adds a key with every permission and without an end. Of ten sign-in keys the least recently used
 * makes room, one that was used within a day last.
 * @param way names the key, with the date of its making
 */
export function stageSignInKey(
  transaction: Transaction,
  orgId: string,
  { secret, way, uses }: { secret: NewKeySecret; way: "magic" | "google"; uses: KeyUses },
  random: (sizeBytes: number) => Uint8Array,
): MailKey {
  const keys = transaction.record(keysKey(orgId))?.keys ?? [];
  const gone = leavingKeys(keys, uses, transaction.nowMs);
  const kept = keys.filter((key) => !gone.includes(key));
  const name = signInKeyName(way, transaction.nowMs);
  return addKey(transaction, orgId, kept, { secret, name, ...OWNER_RIGHTS, signIn: true }, random);
}

/**
 * The sign-in keys that make room for one more: first those not used within a day, then the others,
 * the least recently used first. An unused key counts from its creation. Pure.
 */
export function leavingKeys(keys: readonly MailKey[], uses: KeyUses, nowMs: number): MailKey[] {
  const lastMs = ({ id, createdAtMs }: MailKey) => uses.get(id) ?? createdAtMs;
  const isInUse = ({ id }: MailKey) => nowMs - (uses.get(id) ?? -Infinity) < DAY_MS;
  const others = keys.filter(({ signIn }) => signIn).toSorted((a, b) =>
    Number(isInUse(a)) - Number(isInUse(b)) || lastMs(a) - lastMs(b)
  );
  return others.slice(0, Math.max(0, others.length - (SIGN_IN_KEYS - 1)));
}
