/** Who calls by a mail key (specification, 5.3; mail page, "Who may call what, and the order of checks"). */
import { RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { Store } from "../../storage/store.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import {
  hashKey,
  isKeyForm,
  isLive,
  keyOwnerKey,
  type KeyOwnerRecord,
  keysKey,
  type KeysRecord,
  type MailKey,
} from "../records/key_record.ts";
import type { LastUsed } from "./last_used.ts";

const DAY_MS = 86_400_000;
/** So long an expired key is told from an unknown one. */
export const EXPIRED_SHOWN_MS = 30 * DAY_MS;

/** Who calls: a key and the org that it belongs to, as they stood when the request came. */
export interface MailCaller {
  org: OrgRecord;
  key: MailKey;
}

export interface KeyAuthenticatorOptions {
  store: Pick<Store, "now">;
  records: Pick<RecordCache, "read">;
  lastUsed: LastUsed;
  limits: Pick<Limits, "mailTrialPurgeDays">;
}

/** @returns the caller, or null for a key that is none, or none any more */
type FindKey = (apiKey: string) => Promise<MailCaller | null>;

export class KeyAuthenticator {
  constructor(private readonly options: KeyAuthenticatorOptions) {}

  /**
   * The caller of a request.
   * @param authorization the header, null without one
   * @param expiredTrial whether the route takes the key of an expired trial
   * @throws RelayError `missing_token`, `unknown_key`, `expired_key`, `trial_expired`, `org_suspended`
   */
  async authenticate(
    authorization: string | null,
    { expiredTrial = false, counts = true }: {
      expiredTrial?: boolean;
      /** False for HEAD: the request is no use of the key. */
      counts?: boolean;
    } = {},
  ): Promise<MailCaller> {
    const caller = await this.identify(readBearer(authorization));
    const { store, limits, lastUsed } = this.options;
    if (orgState(caller.org, store.now(), limits) === "expired" && !expiredTrial) {
      throw new RelayError(
        "trial_expired",
        `the trial has ended, and its inboxes take no mail any more; POST /v1/mail/org/attach with a Google sign-in recovers it, and so does a claim link that was sent before and is younger than an hour; the org is erased ${limits.mailTrialPurgeDays} days after its end`,
      );
    }
    if (caller.org.suspendedAtMs !== null) {
      throw new RelayError(
        "org_suspended",
        "the operator of this relay has suspended the org: its keys open nothing and its mail stops; ask the operator",
      );
    }
    if (counts) lastUsed.touch(caller.org.id, caller.key.id);
    return caller;
  }

  /** Whose key this is, whatever state the org is in. @throws RelayError `unknown_key`, `expired_key` */
  async identify(apiKey: string): Promise<MailCaller> {
    const { store } = this.options;
    const caller = await this.#find(apiKey);
    const nowMs = store.now();
    if (caller === null) throw unknownKey();
    const { key } = caller;
    if (isLive(key, nowMs)) return caller;
    if (nowMs - key.expiresAtMs! >= EXPIRED_SHOWN_MS) throw unknownKey();
    throw new RelayError(
      "expired_key",
      "the API key has expired; make another with an org-scoped key (POST /v1/mail/api-keys), or sign in anew",
    );
  }

  #find: FindKey = async (apiKey) => {
    if (!isKeyForm(apiKey)) return null;
    const { records, store, limits } = this.options;
    const hash = hashKey(apiKey);
    const owner = await records.read<KeyOwnerRecord>(keyOwnerKey(hash));
    if (owner === null) return null;
    const [org, keys] = await Promise.all([
      records.read<OrgRecord>(orgKey(owner.orgId)),
      records.read<KeysRecord>(keysKey(owner.orgId)),
    ]);
    if (org === null || orgState(org, store.now(), limits) === "gone") return null;
    const key = keys?.keys.find((one) => one.hash === hash);
    return key === undefined ? null : { org, key };
  };
}

/**
 * The bearer value of an Authorization header.
 * @throws RelayError `missing_token` without a header, for another scheme and for an empty value
 */
export function readBearer(authorization: string | null): string {
  const match = /^bearer (.+)$/i.exec(authorization ?? "");
  if (match !== null) return match[1]!;
  throw new RelayError(
    "missing_token",
    "mail routes take Authorization: Bearer with an API key (rm_sk_...); POST /v1/mail/agents/register gives one to a key pair",
  );
}

export function unknownKey(): RelayError {
  return new RelayError(
    "unknown_key",
    "the API key is not known here: it was deleted, its org is gone, or it belongs to another relay",
  );
}
