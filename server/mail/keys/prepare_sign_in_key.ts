/** The API key that a sign-in makes (mail page, "Keys"). */
import type { Turn } from "../../storage/job.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { LastUsed } from "./last_used.ts";
import { SWEPT_A_COMMIT, sweptHashes } from "./put_keys.ts";
import { leavingKeys, stageSignInKey } from "./sign_in_key.ts";
import {
  keyOwnerKey,
  keysKey,
  type KeysRecord,
  type MailKey,
  makeKeySecret,
} from "../records/key_record.ts";

export interface SignInKeyServices {
  records: Pick<RecordCache, "read">;
  lastUsed: LastUsed;
  now: () => number;
  random: (sizeBytes: number) => Uint8Array;
}

/** A key that a commit is about to make, and what the commit needs for it. */
export interface PreparedKey {
  /** Shown once. */
  apiKey: string;
  /** What the job is to name among its records. */
  records: readonly Deno.KvKey[];
  /** Adds the key to the org's, and gives it. */
  stage(turn: Turn): MailKey;
  /** Run after the commit. */
  committed(): void;
}

/**
 * Prepares a key with every permission and without an end.
 * @param way names the key, with the date of its making
 */
export async function prepareSignInKey(
  { records, lastUsed, now, random }: SignInKeyServices,
  orgId: string,
  way: "google" | "magic",
): Promise<PreparedKey> {
  const secret = makeKeySecret(random);
  const { apiKey, hash } = secret;
  const stored = await records.read<KeysRecord>(keysKey(orgId));
  const keys = stored?.keys ?? [];
  const ids = keys.filter(({ signIn }) => signIn).map(({ id }) => id);
  const usedAtMs = await lastUsed.read(orgId, ids);
  const leaving = leavingKeys(keys, usedAtMs, now()).map((key) => key.hash);
  const swept = [...leaving, ...sweptHashes(stored)].slice(0, SWEPT_A_COMMIT);
  let gone: readonly MailKey[] = [];
  return {
    apiKey,
    records: [keysKey(orgId), ...[hash, ...swept].map((one) => keyOwnerKey(one))],
    stage(turn) {
      const staged = stageSignInKey(turn, orgId, { secret, by: way, usedAtMs, swept }, random);
      gone = staged.gone;
      turn.putRecord(keyOwnerKey(hash), { v: 1, orgId, attempt: turn.attempt });
      return staged.made;
    },
    committed() {
      for (const { id } of gone) lastUsed.forget(id);
    },
  };
}
