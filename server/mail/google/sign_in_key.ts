/** The API key that a sign-in makes (mail page, "Keys"). */
import type { Turn } from "../../storage/job.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { timestamp } from "../../timestamp.ts";
import type { LastUsed } from "../keys/last_used.ts";
import { putKeys, sweptHashes } from "../keys/put_keys.ts";
import {
  keyOwnerKey,
  keysKey,
  type KeysRecord,
  type MailKey,
  makeKeySecret,
  PERMISSIONS,
} from "../records/key_record.ts";
import { makeMailId } from "../records/mail_id.ts";

/** Keys of sign-ins that an org has at most: the least recently used one makes room. */
export const SIGN_IN_KEYS = 10;

export interface SignInKeyServices {
  records: Pick<RecordCache, "read">;
  lastUsed: LastUsed;
  random: (sizeBytes: number) => Uint8Array;
}

/** A key that a commit is about to make, and what the commit needs for it. */
export interface SignInKey {
  /** Shown once. */
  apiKey: string;
  /** Written with the attempt: the proof of the job, which no other job writes. */
  proof: Deno.KvKey;
  /** What the job is to name among its records. */
  records: readonly Deno.KvKey[];
  /** Adds the key to the org's. */
  stage(turn: Turn): void;
  /** Run after the commit. */
  committed(): void;
}

/**
 * Prepares a key with every permission and without an end.
 * @param way names the key, with the date of its making
 */
export async function prepareSignInKey(
  { records, lastUsed, random }: SignInKeyServices,
  orgId: string,
  way: "google" | "magic",
): Promise<SignInKey> {
  const { apiKey, hash, prefix } = makeKeySecret(random);
  const stored = await records.read<KeysRecord>(keysKey(orgId));
  const keys = stored?.keys ?? [];
  const usedAtMs = await lastUsed.read(orgId, keys.filter(isSignIn).map(({ id }) => id));
  const leaving = leavingKeys(keys, usedAtMs).map((key) => key.hash);
  const swept = [...leaving, ...sweptHashes(stored)];
  let gone: readonly MailKey[] = [];
  return {
    apiKey,
    proof: keyOwnerKey(hash),
    records: [keysKey(orgId), ...[hash, ...swept].map((one) => keyOwnerKey(one))],
    stage(turn) {
      const present = turn.record(keysKey(orgId))?.keys ?? [];
      gone = leavingKeys(present, usedAtMs);
      const made: MailKey = {
        id: makeMailId("key", turn.nowMs, random),
        hash,
        name: `${way} ${timestamp(turn.nowMs).slice(0, 10)}`,
        prefix,
        scope: "org",
        inboxId: null,
        permissions: PERMISSIONS,
        createdAtMs: turn.nowMs,
        expiresAtMs: null,
        signIn: true,
      };
      const kept = present.filter((key) => !gone.includes(key));
      putKeys(turn, orgId, [...kept, made], swept);
      turn.putRecord(keyOwnerKey(hash), { v: 1, orgId, attempt: turn.attempt });
    },
    committed() {
      for (const { id } of gone) lastUsed.forget(id);
    },
  };
}

/** The keys of sign-ins that leave for one more; one that was never used counts from its making. Pure. */
export function leavingKeys(
  keys: readonly MailKey[],
  usedAtMs: ReadonlyMap<string, number | null>,
): MailKey[] {
  const signIns = keys.filter(isSignIn);
  const latest = ({ id, createdAtMs }: MailKey) => Math.max(usedAtMs.get(id) ?? 0, createdAtMs);
  return signIns
    .toSorted((a, b) => latest(a) - latest(b))
    .slice(0, Math.max(0, signIns.length - SIGN_IN_KEYS + 1));
}

function isSignIn({ signIn }: MailKey): boolean {
  return signIn;
}
