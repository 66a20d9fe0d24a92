/** The API keys of orgs: made, listed, deleted (specification, 4.7 and 5.3; mail page, "Keys"). */
import { RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { GroupCommit, Turn } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { DAY_MS } from "../../time_units.ts";
import { makeMailId } from "../records/mail_id.ts";
import { EXPIRED_SHOWN_MS, type MailCaller } from "./authenticate_key.ts";
import { putKeys, sweptHashes } from "./put_keys.ts";
import { callerRecords, requireCaller } from "./require_org.ts";
import {
  isLive,
  isOwnerKey,
  keyOwnerKey,
  keysKey,
  type KeysRecord,
  type MailKey,
  makeKeySecret,
} from "../records/key_record.ts";
import type { KeyRequest } from "./key_request.ts";

export interface KeyServices {
  commits: GroupCommit;
  records: Pick<RecordCache, "read">;
  random: (sizeBytes: number) => Uint8Array;
  limits: Pick<Limits, "mailKeysPerOrg" | "mailTrialPurgeDays">;
}

export interface MadeKey {
  key: MailKey;
  /** Shown once. */
  apiKey: string;
}

/**
 * Makes a key of the caller's org.
 * @param check run in the commit, such as to see that the inbox of the key is still there
 * @throws RelayError `key_limit_reached`, and as requireCaller()
 */
export async function createKey(
  services: KeyServices,
  caller: MailCaller,
  request: KeyRequest,
  check: { records: readonly Deno.KvKey[]; require(turn: Turn): void } = {
    records: [],
    require() {},
  },
): Promise<MadeKey> {
  const { commits, records, random, limits } = services;
  const orgId = caller.org.id;
  const { apiKey, hash, prefix } = makeKeySecret(random);
  const swept = sweptHashes(await records.read<KeysRecord>(keysKey(orgId)));
  const key = await commits.submit<MailKey>({
    records: [
      ...callerRecords(caller),
      ...[hash, ...swept].map((one) => keyOwnerKey(one)),
      ...check.records,
    ],
    sizeBytes: 4_000,
    plan(turn) {
      const keys = keysOf(turn, caller, limits);
      check.require(turn);
      const made: MailKey = {
        id: makeMailId("key", turn.nowMs, random),
        hash,
        ...request,
        prefix,
        createdAtMs: turn.nowMs,
        signIn: false,
      };
      const kept = forgetExpired(turn, keys, limits.mailKeysPerOrg);
      if (kept.filter(({ signIn }) => !signIn).length >= limits.mailKeysPerOrg) {
        throw new RelayError(
          "key_limit_reached",
          `an org has at most ${limits.mailKeysPerOrg} API keys; delete one that is not used any more (GET /v1/mail/api-keys tells when each was last used)`,
        );
      }
      putKeys(turn, orgId, [...kept, made], swept);
      turn.putRecord(keyOwnerKey(hash), { v: 1, orgId, attempt: turn.attempt });
      return made;
    },
  });
  return { key, apiKey };
}

/**
 * Deletes a key of the caller's org: at once nobody gets in with it.
 * @throws RelayError `not_found`, `last_key`, and as requireCaller()
 */
export async function deleteKey(
  { commits, records, limits }: KeyServices,
  caller: MailCaller,
  keyId: string,
): Promise<MailKey> {
  const orgId = caller.org.id;
  const stored = await records.read<KeysRecord>(keysKey(orgId));
  const hash = stored?.keys.find(({ id }) => id === keyId)?.hash;
  if (hash === undefined) throw noSuchKey();
  const swept = [hash, ...sweptHashes(stored)];
  return await commits.submit<MailKey>({
    records: [...callerRecords(caller), ...swept.map((one) => keyOwnerKey(one))],
    sizeBytes: 2_000,
    plan(turn) {
      const keys = keysOf(turn, caller, limits);
      const deleted = keys.find(({ id }) => id === keyId);
      if (deleted === undefined) throw noSuchKey();
      const left = keys.filter((key) => key !== deleted);
      const isLast = (atMs: number) =>
        isOwnerKey(deleted, atMs) && !left.some((key) => isOwnerKey(key, atMs));
      if (isLast(turn.nowMs) || isLast(turn.nowMs + DAY_MS)) {
        throw new RelayError(
          "last_key",
          "without this key the org would have no org-scoped one with inbox:write that lives for another 24 hours, and nobody could manage it; make another first that does (POST /v1/mail/api-keys), sign in again, or delete the org (DELETE /v1/mail/org)",
        );
      }
      putKeys(turn, orgId, left, swept);
      return deleted;
    },
  });
}

function keysOf(
  turn: Turn,
  caller: MailCaller,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): readonly MailKey[] {
  requireCaller(turn, caller, limits);
  return turn.record(keysKey(caller.org.id))?.keys ?? [];
}

/**
 * What is kept of an org's keys when one is added: those that expired 30 days ago go, and of the
 * others that expired the oldest, where the limit leaves no room.
 */
function forgetExpired(turn: Turn, keys: readonly MailKey[], limit: number): MailKey[] {
  const kept = keys.filter((key) =>
    isLive(key, turn.nowMs) || turn.nowMs - key.expiresAtMs! < EXPIRED_SHOWN_MS
  );
  while (kept.filter(({ signIn }) => !signIn).length >= limit) {
    const at = kept.findIndex((key) => !key.signIn && !isLive(key, turn.nowMs));
    if (at < 0) break;
    kept.splice(at, 1);
  }
  return kept;
}

function noSuchKey(): RelayError {
  return new RelayError("not_found", "the org has no such API key");
}
