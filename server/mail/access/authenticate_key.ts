/** Who calls by a mail key (specification, 5.3; docs/api.md, "The mail area"). */
import type { Context } from "hono";
import { RelayError } from "../../base/errors.ts";
import { type BearerCallers, bearerCallers } from "../../base/http/callers/bearer_callers.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import {
  isKeyForm,
  isLive,
  keyOwnerKey,
  type KeyOwnerRecord,
  keysKey,
  type KeysRecord,
  type MailKey,
} from "../records/key_record.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { LastUsed } from "./last_used.ts";

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

/** The key of a hash, and its org; null for a key that is none, or none any more. */
export async function findCaller(
  { records, store, limits }: Omit<KeyAuthenticatorOptions, "lastUsed">,
  hash: string,
): Promise<MailCaller | null> {
  const owner = await records.read<KeyOwnerRecord>(keyOwnerKey(hash));
  if (owner === null) return null;
  const [org, keys] = await Promise.all([
    records.read<OrgRecord>(orgKey(owner.orgId)),
    records.read<KeysRecord>(keysKey(owner.orgId)),
  ]);
  if (org === null || orgState(org, store.now(), limits) === "gone") return null;
  const key = keys?.keys.find((one) => one.hash === hash);
  return key === undefined ? null : { org, key };
}

export class KeyAuthenticator {
  readonly #callers: BearerCallers<MailCaller>;
  /** Requests that pages of the relay make in its own process: nobody outside holds the object. */
  readonly #vouched = new WeakMap<Request, () => Promise<MailCaller>>();

  constructor(private readonly options: KeyAuthenticatorOptions) {
    this.#callers = bearerCallers({
      isTokenForm: isKeyForm,
      find: (hash) => findCaller(options, hash),
      admit: (caller) => this.#admit(caller),
      missing: missingToken,
      unknown: unknownKey,
    });
  }

  /**
   * The caller of a request.
   * @param expiredTrial whether the route takes the key of an expired trial
   * @throws RelayError `missing_token`, `unknown_key`, `expired_key`, `trial_expired`, `org_suspended`
   */
  async authenticate(c: Context<HttpEnv>, expiredTrial = false): Promise<MailCaller> {
    const vouched = this.#vouched.get(c.req.raw);
    const caller = await (vouched === undefined ? this.#callers.identify(c) : vouched());
    return this.#letIn(caller, expiredTrial, !c.get("head"));
  }

  /**
   * Has a request that this process makes be that of somebody who came without the key, as by a session.
   * @param find whose it is; asked as often as the key of another request would be
   */
  vouch(request: Request, find: () => Promise<MailCaller>): Request {
    this.#vouched.set(request, find);
    return request;
  }

  /**
   * The holder of a key that came otherwise than in the header alone, as to a tool.
   * @param apiKey null for none
   * @throws RelayError as authenticate()
   */
  async authenticateKey(apiKey: string | null): Promise<MailCaller> {
    if (apiKey === null) throw missingToken();
    return this.#letIn(await this.#callers.identifyToken(apiKey), false, true);
  }

  #letIn(caller: MailCaller, expiredTrial: boolean, isUse: boolean): MailCaller {
    const { store, limits, lastUsed } = this.options;
    requireOpen(caller.org, store.now(), limits, expiredTrial);
    if (isUse) lastUsed.touch(caller.org.id, caller.key.id);
    return caller;
  }

  #admit(caller: MailCaller): MailCaller {
    requireLive(caller.key, this.options.store.now());
    return caller;
  }
}

/**
 * Requires that a key has not expired. Pure.
 * @throws RelayError `expired_key`, and `unknown_key` once that has been said for 30 days
 */
export function requireLive(key: Pick<MailKey, "expiresAtMs">, nowMs: number): void {
  if (isLive(key, nowMs)) return;
  if (nowMs - key.expiresAtMs! >= EXPIRED_SHOWN_MS) throw unknownKey();
  throw new RelayError(
    "expired_key",
    "the API key has expired; make another with an org-scoped key (POST /v1/mail/api-keys), or sign in anew",
    { toolMessage: "the API key has expired; ask the person you work for for another one" },
  );
}

/**
 * Requires that the keys of an org open something. Pure.
 * @param expiredTrial whether what is asked takes the key of an expired trial
 * @throws RelayError `trial_expired`, `org_suspended`
 */
export function requireOpen(
  org: OrgRecord,
  nowMs: number,
  limits: Pick<Limits, "mailTrialPurgeDays">,
  expiredTrial: boolean,
): void {
  if (orgState(org, nowMs, limits) === "expired" && !expiredTrial) {
    throw new RelayError(
      "trial_expired",
      `the trial has ended, and its inboxes take no mail any more; POST /v1/mail/org/attach with a Google sign-in recovers it, and so does a claim link that was sent before and is younger than an hour; the org is erased ${limits.mailTrialPurgeDays} days after its end`,
      {
        toolMessage:
          `the trial has ended, and its inboxes take no mail any more; only a person can recover it, with a Google sign-in (POST /v1/mail/org/attach); it is erased ${limits.mailTrialPurgeDays} days after its end`,
      },
    );
  }
  refuseSuspended(org);
}

/** Refuses every way into an org that its operator has suspended. Pure. @throws RelayError `org_suspended` */
export function refuseSuspended({ suspendedAtMs }: Pick<OrgRecord, "suspendedAtMs">): void {
  if (suspendedAtMs === null) return;
  throw new RelayError(
    "org_suspended",
    "the operator of this relay has suspended the org: nobody signs in to it, its keys open nothing and its mail stops; ask the operator",
  );
}

function missingToken(): RelayError {
  return new RelayError(
    "missing_token",
    "mail routes take Authorization: Bearer with an API key (rm_sk_...); POST /v1/mail/agents/register gives one to a key pair",
    {
      toolMessage:
        "api_key is required: an API key of the mail area, rm_sk_... (clients may send it as the header " +
        "Authorization: Bearer instead); ask the person you work for for one",
    },
  );
}

export function unknownKey(): RelayError {
  return new RelayError(
    "unknown_key",
    "the API key is not known here: it was deleted, its org is gone, or it belongs to another relay",
  );
}
