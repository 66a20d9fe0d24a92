/** Self-registration: org, first key, number and the address window are one commit (specification, 4.7). */
import { rateLimited, RelayError } from "../../base/errors.ts";
import { defineWindow, stageWindow } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { addKey } from "../access/put_keys.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
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

const registerWindow = defineWindow<[addressHash: string]>("mail-register", {
  holds: "registrations for mail of a client address",
  expires: "1 h",
});

/** A signature is remembered so much longer than its timestamp can pass (docs/adr/0056). */
const REPLAY_MARGIN_MS = 60_000;
const FIRST_KEY_NAME = "registration";

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
  { commits, random, now, limits }: Pick<MailCore, "commits" | "random" | "now" | "limits">,
  { publicKey, timestampSeconds, label }: RegistrationRequest,
  addressHash: string,
): Promise<RegisteredOrg> {
  const secret = makeKeySecret(random);
  const orgId = makeMailId("org", now(), random);
  const boundKey = publicKeyKey(publicKey);
  const org = await commits.submit((transaction) => {
    const limit = limits.mailRegistrationsPerIpPerHour;
    const rule = { limit, windowMs: HOUR_MS };
    stageWindow(
      transaction,
      registerWindow(addressHash),
      rule,
      (retryAfterMs) =>
        rateLimited(
          `at most ${limit} registrations for mail an hour from one address; wait and register again`,
          retryAfterMs,
        ),
    );
    const bound = transaction.record(boundKey);
    if (bound !== null) {
      const taken = transaction.record(orgKey(bound.orgId));
      const gone = taken === null || orgState(taken, transaction.nowMs, limits) === "gone";
      if (!gone || transaction.nowMs < bound.replayableUntilMs) throw keyTaken();
    }
    const agentId = (transaction.record(MAIL_AGENT_COUNT) ?? 0) + 1;
    const trialEndsAtMs = trialEndMs(transaction.nowMs, limits);
    const known = { agentId, publicKey, trialEndsAtMs, verifiedAtMs: null };
    const made = newOrg(orgId, transaction.nowMs, known);
    const replayableUntilMs = (timestampSeconds + limits.signatureWindowSeconds) * 1000 +
      REPLAY_MARGIN_MS;
    transaction.putRecord(MAIL_AGENT_COUNT, agentId);
    transaction.putRecord(boundKey, { v: 1, orgId, replayableUntilMs });
    transaction.putRecord(orgKey(orgId), made);
    const name = label ?? FIRST_KEY_NAME;
    addKey(transaction, orgId, [], { secret, name, ...OWNER_RIGHTS, signIn: false }, random);
    transaction.set(trialKey(trialEndsAtMs, orgId), { v: 1 });
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
