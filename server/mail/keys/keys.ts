/** The API keys of orgs: made, listed, deleted (specification, 4.7 and 5.3; docs/mail.md). */
import { RelayError } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { GroupCommit, Transaction } from "../../base/storage/commits/group_commit.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { inboxKey } from "../records/inbox_record.ts";
import { isLive, isOwnerKey, keysKey, type MailKey, makeKeySecret } from "../records/key_record.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { EXPIRED_SHOWN_MS, type MailCaller } from "../access/authenticate_key.ts";
import type { KeyRequest } from "./key_request.ts";
import { addKey, putKeys, SWEPT_A_COMMIT } from "../access/put_keys.ts";
import { requireCaller } from "../access/require_org.ts";

export interface KeyServices {
  commits: GroupCommit;
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
 * @param request whose inbox was found already
 * @throws RelayError `key_limit_reached`; `not_found` for an inbox that has gone; and as requireCaller()
 */
export async function createKey(
  { commits, random, limits }: KeyServices,
  caller: MailCaller,
  request: KeyRequest,
): Promise<MadeKey> {
  const orgId = caller.org.id;
  const secret = makeKeySecret(random);
  const key = await commits.submit((transaction) => {
    const keys = keysOf(transaction, caller, limits);
    const { inboxId } = request;
    if (inboxId !== null && transaction.record(inboxKey(orgId, inboxId)) === null) {
      throw unknownObject("inbox");
    }
    const kept = forgetExpired(transaction, keys, limits.mailKeysPerOrg);
    if (kept.filter(({ signIn }) => !signIn).length >= limits.mailKeysPerOrg) {
      throw new RelayError(
        "key_limit_reached",
        `an org has at most ${limits.mailKeysPerOrg} API keys; delete one that is not used any more (GET /v1/mail/api-keys tells when each was last used)`,
      );
    }
    return addKey(transaction, orgId, kept, { secret, ...request, signIn: false }, random);
  });
  return { key, apiKey: secret.apiKey };
}

/**
 * Deletes a key of the caller's org: it stops working at once.
 * @throws RelayError `not_found`, `last_key`, and as requireCaller()
 */
export async function deleteKey(
  { commits, limits }: KeyServices,
  caller: MailCaller,
  keyId: string,
): Promise<void> {
  await commits.submit((transaction) => {
    const keys = keysOf(transaction, caller, limits);
    const deleted = keys.find(({ id }) => id === keyId);
    if (deleted === undefined) throw unknownObject("API key");
    const left = keys.filter((key) => key !== deleted);
    const isLast = (atMs: number) =>
      isOwnerKey(deleted, atMs) && !left.some((key) => isOwnerKey(key, atMs));
    if (isLast(transaction.nowMs) || isLast(transaction.nowMs + DAY_MS)) {
      throw new RelayError(
        "last_key",
        "without this key the org would have no org-scoped one with inbox:write that lives for another 24 hours, and nobody could manage it; make another first that does (POST /v1/mail/api-keys), sign in again, or delete the org (DELETE /v1/mail/org)",
      );
    }
    putKeys(transaction, caller.org.id, left, SWEPT_A_COMMIT);
  });
}

function keysOf(
  transaction: Transaction,
  caller: MailCaller,
  limits: Pick<Limits, "mailTrialPurgeDays">,
): readonly MailKey[] {
  requireCaller(transaction, caller, limits);
  return transaction.record(keysKey(caller.org.id))?.keys ?? [];
}

/**
 * What is kept of an org's keys when one is added: those that expired 30 days ago go, and of the
 * others that expired the oldest, where the limit leaves no room.
 */
function forgetExpired(
  transaction: Transaction,
  keys: readonly MailKey[],
  limit: number,
): MailKey[] {
  const kept = keys.filter((key) =>
    isLive(key, transaction.nowMs) || transaction.nowMs - key.expiresAtMs! < EXPIRED_SHOWN_MS
  );
  while (kept.filter(({ signIn }) => !signIn).length >= limit) {
    const at = kept.findIndex((key) => !key.signIn && !isLive(key, transaction.nowMs));
    if (at < 0) break;
    kept.splice(at, 1);
  }
  return kept;
}
