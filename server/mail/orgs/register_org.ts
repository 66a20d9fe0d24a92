/** Self-registration: org, first key, number and the address window are one commit (specification, 4.7). */
import { rateLimited, RelayError } from "../../errors.ts";
import type { Limits } from "../../limits.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";
import { addKey } from "../keys/put_keys.ts";
import { makeKeySecret, OWNER_RIGHTS } from "../records/key_record.ts";
import { makeMailId } from "../records/mail_id.ts";
import {
  MAIL_AGENT_COUNT,
  newOrg,
  orgKey,
  type OrgRecord,
  orgState,
  publicKeyKey,
  trialEndMs,
  trialKey,
} from "../records/org_record.ts";
import type { RegistrationRequest } from "./registration_request.ts";

/** A signature is remembered so much longer than its timestamp can pass (docs/adr/0056). */
const REPLAY_MARGIN_MS = 60_000;
const FIRST_KEY_NAME = "registration";

export interface RegisterServices {
  commits: GroupCommit;
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
  { commits, random, now, limits }: RegisterServices,
  { publicKey, timestampSeconds, label }: RegistrationRequest,
  addressHash: string,
): Promise<RegisteredOrg> {
  const secret = makeKeySecret(random);
  const orgId = makeMailId("org", now(), random);
  const boundKey = publicKeyKey(publicKey);
  const org = await commits.submit((turn) => {
    const limit = limits.mailRegistrationsPerIpPerHour;
    const rule = { limit, windowMs: HOUR_MS };
    stageWindow(turn, windowKey("mail-register", addressHash), rule, (retryAfterMs) =>
      rateLimited(
        `at most ${limit} registrations for mail an hour from one address; wait and register again`,
        retryAfterMs,
      ));
    const bound = turn.record(boundKey);
    if (bound !== null) {
      const taken = turn.record(orgKey(bound.orgId));
      const gone = taken === null || orgState(taken, turn.nowMs, limits) === "gone";
      if (!gone || turn.nowMs < bound.replayableUntilMs) throw keyTaken();
    }
    const agentId = (turn.record(MAIL_AGENT_COUNT) ?? 0) + 1;
    const trialEndsAtMs = trialEndMs(turn.nowMs, limits);
    const known = { agentId, publicKey, trialEndsAtMs, verifiedAtMs: null };
    const made = newOrg(orgId, turn.nowMs, known);
    const replayableUntilMs = (timestampSeconds + limits.signatureWindowSeconds) * 1000 +
      REPLAY_MARGIN_MS;
    turn.putRecord(MAIL_AGENT_COUNT, agentId);
    turn.putRecord(boundKey, { v: 1, orgId, replayableUntilMs });
    turn.putRecord(orgKey(orgId), made);
    const name = label ?? FIRST_KEY_NAME;
    addKey(turn, orgId, [], { secret, name, ...OWNER_RIGHTS, signIn: false }, random);
    turn.set(trialKey(trialEndsAtMs, orgId), { v: 1 });
    return made;
  });
  return { org, apiKey: secret.apiKey, keyPrefix: secret.prefix };
}

function keyTaken(): RelayError {
  return new RelayError(
    "handle_taken",
    "this public key has an org already: a key registers once, and its API key is shown once; register another key, or sign in with the e-mail address that claimed the org",
  );
}
