/** Sign-in by a link in a mail (specification, 4.7; mail page, "Orgs and the ways in"). */
import { whileOutdated } from "../../storage/while_outdated.ts";
import { rateLimited } from "../../errors.ts";
import { hashClientAddress } from "../../http/client_address.ts";
import { Outdated } from "../../storage/job.ts";
import { stageWindow, windowKey } from "../../storage/window_record.ts";
import { HOUR_MS } from "../../time_units.ts";
import { prepareSignInKey } from "../keys/prepare_sign_in_key.ts";
import { refuseSuspended } from "../keys/authenticate_key.ts";
import { changeToUndo } from "../records/former_owners.ts";
import { keysKey, type MailKey } from "../records/key_record.ts";
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
  signedInAtMs,
  stageVerifiedEmail,
} from "../records/verified_email.ts";
import { emailWindowKey, stageEmailWindow } from "./email_window.ts";
import { linkRecords, stageLink } from "./queued_link.ts";
import { chooseOrg, type SignInChoice } from "./sign_in_choice.ts";
import { type SignInServices, wakeLinkMails } from "./sign_in_services.ts";
import { takeBack } from "./take_back.ts";

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
  const emailWindow = emailWindowKey(addressKey, email);
  const clientWindow = windowKey("mail-magic-client", hashClientAddress(addressKey, askedFrom));
  const id = makeUlid(now(), random);
  await commits.submit<MagicLink>({
    records: [emailWindow, clientWindow, ...linkRecords(id)],
    sizeBytes: 3_000,
    plan(turn) {
      const { mailMagicPerIpPerHour } = limits;
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
      stageEmailWindow(turn, emailWindow, limits);
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

/** A sign-in that may still be made, and what it opens when nothing else is named. */
export interface WaitingSignIn {
  link: MagicLink;
  choice: SignInChoice;
}

/** @param chosen as chooseOrg() takes it @throws RelayError `link_expired` */
export async function readMagicLink(
  services: SignInServices,
  id: string,
  chosen: string | null = null,
): Promise<WaitingSignIn> {
  const { records, store: { now } } = services;
  const link = await records.read<LinkRecord>(linkKey(id));
  if (!isAlive(link, now()) || link.kind !== "magic") throw linkExpired();
  return { link, choice: await chooseOrg(services, link, chosen) };
}

/**
 * Spends a link: makes a key of the org that it opens, or a verified org where it opens none. An org
 * that was taken from the reader of the address is theirs again first.
 * @param chosen as chooseOrg() takes it
 * @throws RelayError `link_expired`; `org_suspended`, and the link is not spent
 */
export async function followMagicLink(
  services: SignInServices,
  id: string,
  chosen: string | null = null,
): Promise<SignedIn> {
  return await whileOutdated(async () => {
    const waiting = await readMagicLink(services, id, chosen);
    const { org, undone } = waiting.choice;
    if (org !== null) refuseSuspended(org);
    if (org === null || undone === null) return await enter(services, id, waiting);
    const { email } = waiting.link;
    await takeBack(services, org, undone, {
      linkId: id,
      require(turn) {
        // Not spent: the key is made by a commit of its own.
        if (!isAlive(turn.record(linkKey(id)), turn.nowMs)) throw linkExpired();
        const current = turn.record(orgKey(org.id));
        const found = current && changeToUndo(current, { email }, turn.nowMs);
        if (found === null) throw new Outdated();
        return found;
      },
    });
    return await enter(services, id, await readMagicLink(services, id, org.id));
  });
}

async function enter(
  services: SignInServices,
  id: string,
  { link: { email }, choice }: WaitingSignIn,
): Promise<SignedIn> {
  const { store: { now, random }, records, commits, limits, lastUsed } = services;
  const { org: opened, carrying, mark } = choice;
  const orgId = opened?.id ?? makeMailId("org", now(), random);
  const key = await prepareSignInKey({ records, lastUsed, now, random }, orgId, "magic");
  const signedIn = await commits.submit<Pick<SignedIn, "org" | "key" | "otherKeys">>({
    records: [linkKey(id), orgKey(orgId), emailKey(email), ...key.records],
    sizeBytes: 6_000,
    plan(turn) {
      if (!isAlive(turn.record(linkKey(id)), turn.nowMs)) throw linkExpired();
      const stored = turn.record(orgKey(orgId));
      if (opened !== null && (stored === null || !carries(stored, email, turn.nowMs, limits))) {
        throw new Outdated();
      }
      if (opened === null && !isSame(turn.record(emailKey(email)), mark)) throw new Outdated();
      if (stored !== null) refuseSuspended(stored);
      const org = stored ?? newOrg(orgId, turn.nowMs, turn.attempt);
      const isNoted = org.emailProof?.by === "sign_in";
      const keys = turn.record(keysKey(orgId))?.keys ?? [];
      const atMs = signedInAtMs(org, keys) ?? turn.nowMs;
      const noted: OrgRecord = isNoted ? org : {
        ...org,
        ...stageVerifiedEmail(turn, org, email, { by: "sign_in", atMs }),
        attempt: turn.attempt,
      };
      if (!isNoted) turn.putRecord(orgKey(orgId), noted);
      turn.putRecord(linkKey(id), null);
      const made = key.stage(turn);
      const otherKeys = turn.record(keysKey(orgId))!.keys.filter(({ id }) => id !== made.id);
      return { org: noted, key: made, otherKeys };
    },
    committed: key.committed,
  });
  const otherOrgs = carrying.map((org) => org.id).filter((other) => other !== orgId);
  return { ...signedIn, apiKey: key.apiKey, otherOrgs };
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
