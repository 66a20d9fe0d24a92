/** Self-registration: org, first key, number and the address window are one commit (specification, 4.7). */
import { whileOutdated } from "../../storage/while_outdated.ts";
import { HOUR_MS } from "../../time_units.ts";
import { rateLimited, RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import { Outdated } from "../../storage/job.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import {
  keyOwnerKey,
  keysKey,
  type KeysRecord,
  makeKeySecret,
  PERMISSIONS,
} from "../records/key_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import {
  MAIL_AGENT_COUNT,
  orgKey,
  type OrgRecord,
  orgState,
  publicKeyKey,
  type PublicKeyRecord,
  trialEndMs,
  trialKey,
} from "../records/org_record.ts";
import type { RegistrationRequest } from "./registration_request.ts";

/** A signature is remembered so much longer than its timestamp can pass (decisions, "Messages"). */
const REPLAY_MARGIN_MS = 60_000;
const FIRST_KEY_NAME = "registration";

export interface RegisterServices {
  commits: GroupCommit;
  records: RecordCache;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  now: () => number;
  limits: Limits;
}

export interface RegisteredOrg {
  org: OrgRecord;
  /** Shown once. */
  apiKey: string;
  keyPrefix: string;
}

/**
 * Registers a key with a trial org of its own. Only a success counts against the address's limit.
 * @param addressHash keyed hash of the client address
 * @throws RelayError `rate_limited`, then `handle_taken` for a key that has an org, replays included
 */
export async function registerOrg(
  services: RegisterServices,
  request: RegistrationRequest,
  addressHash: string,
): Promise<RegisteredOrg> {
  return await whileOutdated(() => register(services, request, addressHash));
}

async function register(
  { commits, records, random, now, limits }: RegisterServices,
  { publicKey, timestampSeconds, label }: RegistrationRequest,
  addressHash: string,
): Promise<RegisteredOrg> {
  const { apiKey, hash, prefix } = makeKeySecret(random);
  const orgId = makeMailId("org", now(), random);
  const boundKey = publicKeyKey(publicKey);
  const addressKey = windowKey("mail-register", addressHash);
  // The org that the key has already, so that its state is decided in the commit.
  const former = await records.read<PublicKeyRecord>(boundKey);
  const formerKey = former === null ? [] : [orgKey(former.orgId)];
  const org = await commits.submit<OrgRecord>({
    records: [addressKey, MAIL_AGENT_COUNT, boundKey, orgKey(orgId), keysKey(orgId), ...formerKey],
    sizeBytes: 4_000,
    plan(turn) {
      const limit = limits.mailRegistrationsPerIpPerHour;
      stageWindow(turn, addressKey, { limit, windowMs: HOUR_MS }, (retryAfterMs) =>
        rateLimited(
          `at most ${limit} registrations for mail an hour from one address; wait and register again`,
          retryAfterMs,
        ));
      const bound = turn.record(boundKey);
      if (bound?.orgId !== former?.orgId) throw new Outdated();
      if (bound !== null) {
        const taken = turn.record(orgKey(bound.orgId));
        const gone = taken === null || orgState(taken, turn.nowMs, limits) === "gone";
        if (!gone || turn.nowMs < bound.replayableUntilMs) throw keyTaken();
      }
      const agentId = (turn.record(MAIL_AGENT_COUNT) ?? 0) + 1;
      const trialEndsAtMs = trialEndMs(turn.nowMs, limits);
      const made: OrgRecord = {
        v: 1,
        id: orgId,
        agentId,
        publicKey,
        createdAtMs: turn.nowMs,
        trialEndsAtMs,
        verifiedAtMs: null,
        verifiedEmail: null,
        google: null,
        pendingClaim: null,
        inboxes: 0,
        addressesTaken: [],
        suspendedAtMs: null,
        deletedAtMs: null,
        attempt: turn.attempt,
      };
      const keys: KeysRecord = {
        v: 1,
        keys: [{
          id: makeMailId("key", turn.nowMs, random),
          hash,
          name: label ?? FIRST_KEY_NAME,
          prefix,
          scope: "org",
          inboxId: null,
          permissions: PERMISSIONS,
          createdAtMs: turn.nowMs,
          expiresAtMs: null,
          signIn: false,
        }],
      };
      turn.putRecord(MAIL_AGENT_COUNT, agentId);
      turn.putRecord(boundKey, {
        v: 1,
        orgId,
        replayableUntilMs: (timestampSeconds + limits.signatureWindowSeconds) * 1000 +
          REPLAY_MARGIN_MS,
      });
      turn.putRecord(orgKey(orgId), made);
      turn.putRecord(keysKey(orgId), keys);
      turn.set(keyOwnerKey(hash), { v: 1, orgId });
      turn.set(trialKey(trialEndsAtMs, orgId), { v: 1 });
      return made;
    },
  });
  return { org, apiKey, keyPrefix: prefix };
}

function keyTaken(): RelayError {
  return new RelayError(
    "handle_taken",
    "this public key has an org already: a key registers once, and its API key is shown once; register another key, or sign in with the e-mail address that claimed the org",
  );
}
