/** Sign-in by a link in a mail (specification, 4.7; mail page, "Orgs and the ways in"). */
import { whileOutdated } from "../../storage/while_outdated.ts";
import { mailboxAddress } from "../../digest/mailbox_address.ts";
import { rateLimited } from "../../errors.ts";
import { hashClientAddress } from "../../http/client_address.ts";
import { Outdated } from "../../storage/job.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";
import { sweptHashes } from "../keys/put_keys.ts";
import { stageSignInKey } from "../keys/sign_in_key.ts";
import {
  keyOwnerKey,
  keysKey,
  type KeysRecord,
  type MailKey,
  makeKeySecret,
} from "../records/key_record.ts";
import {
  isAlive,
  LINK_MS,
  linkExpired,
  linkKey,
  type LinkRecord,
  type MagicLink,
} from "../records/link_record.ts";
import { makeMailId, makeUlid } from "../records/mail_id.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import {
  carries,
  emailKey,
  type EmailRecord,
  findCarryingOrgs,
  stageVerifiedEmail,
} from "../records/verified_email.ts";
import { linkRecords, stageLink } from "./queued_link.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";

/**
 * Mails a sign-in link to an address, known or not: whether an org carries it is asked when the link is
 * followed.
 * @param askedFrom address of the client, as limits count it
 * @throws RelayError `rate_limited`
 */
export async function sendMagicLink(
  services: SignInServices,
  { email, orgId, askedFrom }: Pick<MagicLink, "email" | "orgId" | "askedFrom">,
): Promise<void> {
  const { commits, store: { now, random }, limits, addressKey } = services;
  const hash = (counted: string) => hashClientAddress(addressKey, counted);
  const emailWindow = windowKey("mail-magic-email", hash(`mailbox\n${mailboxAddress(email)}`));
  const clientWindow = windowKey("mail-magic-client", hash(askedFrom));
  const id = makeUlid(now(), random);
  await commits.submit<MagicLink>({
    records: [emailWindow, clientWindow, ...linkRecords(id)],
    sizeBytes: 3_000,
    proof: linkKey(id),
    plan(turn) {
      const { mailMagicPerIpPerHour, mailMagicPerEmailPerHour } = limits;
      const windowMs = HOUR_MS;
      stageWindow(
        turn,
        clientWindow,
        { limit: mailMagicPerIpPerHour, windowMs },
        (waitMs) =>
          rateLimited(
            `at most ${mailMagicPerIpPerHour} sign-in links an hour from one address; wait and ask again`,
            waitMs,
          ),
      );
      stageWindow(
        turn,
        emailWindow,
        { limit: mailMagicPerEmailPerHour, windowMs },
        (waitMs) =>
          rateLimited(
            `at most ${mailMagicPerEmailPerHour} sign-in links an hour to one e-mail address; those sent before work for an hour`,
            waitMs,
          ),
      );
      const link = { kind: "magic", email, orgId, askedFrom } as const;
      return stageLink<MagicLink>(turn, id, link, LINK_MS, random);
    },
  });
  wakeLinkMails(services);
}

export interface SignedIn {
  org: OrgRecord;
  key: MailKey;
  /** Shown once. */
  apiKey: string;
  /** Other orgs of the address. */
  otherOrgs: readonly string[];
  /** Keys of the org besides the new one, whether or not they have expired. */
  otherKeys: readonly MailKey[];
}

/**
 * Spends a link: makes a key of the org that it opens, or a verified org where none carries the address.
 * @throws RelayError `link_expired`
 */
export async function followMagicLink(services: SignInServices, id: string): Promise<SignedIn> {
  // Outdated where the org has gone meanwhile, or the address has got one.
  return await whileOutdated(() => follow(services, id));
}

async function follow(services: SignInServices, id: string): Promise<SignedIn> {
  const { store: { kv, now, random }, records, commits, limits, lastUsed } = services;
  const link = await records.read<LinkRecord>(linkKey(id));
  if (!isAlive(link, now()) || link.kind !== "magic") throw linkExpired();
  const { email } = link;
  const { orgs, mark } = await findCarryingOrgs({ records, kv, nowMs: now(), limits }, email);
  const former = orgs.find((org) => org.id === link.orgId) ?? orgs[0] ?? null;
  const orgId = former?.id ?? makeMailId("org", now(), random);
  const keys = former === null ? null : await records.read<KeysRecord>(keysKey(orgId));
  const signInIds = (keys?.keys ?? []).filter(({ signIn }) => signIn).map((key) => key.id);
  const secret = makeKeySecret(random);
  const swept = sweptHashes(keys);
  const signInKey = {
    secret,
    by: "magic",
    usedAtMs: await lastUsed.read(orgId, signInIds),
    swept,
  } as const;
  const signedIn = await commits.submit<Omit<SignedIn, "otherOrgs"> & { gone: readonly MailKey[] }>(
    {
      records: [
        linkKey(id),
        orgKey(orgId),
        keysKey(orgId),
        ...[secret.hash, ...swept].map((hash) => keyOwnerKey(hash)),
        ...(former === null ? [emailKey(email)] : []),
      ],
      sizeBytes: 6_000,
      proof: keyOwnerKey(secret.hash),
      plan(turn) {
        if (!isAlive(turn.record(linkKey(id)), turn.nowMs)) throw linkExpired();
        const stored = turn.record(orgKey(orgId));
        if (former !== null && (stored === null || !carries(stored, email, turn.nowMs, limits))) {
          throw new Outdated();
        }
        if (former === null && !isSame(turn.record(emailKey(email)), mark)) throw new Outdated();
        const org = stored ?? newOrg(orgId, turn.nowMs, turn.attempt);
        const proof = { by: "sign_in", atMs: turn.nowMs } as const;
        const changed = former === null
          ? { ...org, ...stageVerifiedEmail(turn, org, email, proof) }
          : org;
        if (former === null) turn.putRecord(orgKey(orgId), changed);
        turn.putRecord(linkKey(id), null);
        const { made, gone } = stageSignInKey(turn, orgId, signInKey, random);
        turn.putRecord(keyOwnerKey(secret.hash), { v: 1, orgId, attempt: turn.attempt });
        const otherKeys = turn.record(keysKey(orgId))!.keys.filter((key) => key !== made);
        return { org: changed, key: made, apiKey: secret.apiKey, otherKeys, gone };
      },
    },
  );
  for (const key of signedIn.gone) lastUsed.forget(key.id);
  const otherOrgs = orgs.map((org) => org.id).filter((other) => other !== orgId);
  return { ...signedIn, otherOrgs };
}

function isSame(one: EmailRecord | null, other: EmailRecord | null): boolean {
  return one?.attempt === other?.attempt;
}

/** An org of a person, who has proved an address. */
function newOrg(id: string, nowMs: number, attempt: string): OrgRecord {
  return {
    v: 1,
    id,
    agentId: null,
    publicKey: null,
    createdAtMs: nowMs,
    trialEndsAtMs: null,
    verifiedAtMs: nowMs,
    verifiedEmail: null,
    google: null,
    pendingClaim: null,
    inboxes: 0,
    addressesTaken: [],
    suspendedAtMs: null,
    deletedAtMs: null,
    attempt,
  };
}
