/** Sign-in by a link in a mail (specification, 4.7; docs/mail.md, "Signing in"). */
import { Outdated } from "../../base/storage/commits/job.ts";
import { defineWindow } from "../../base/storage/commits/window_record.ts";
import { refuseSuspended } from "../access/authenticate_key.ts";
import { readKeyUses, stageSignInKey } from "../keys/sign_in_key.ts";
import { changeToUndo } from "../records/former_owners.ts";
import { keysKey, type MailKey, makeKeySecret } from "../records/key_record.ts";
import {
  isAlive,
  linkExpired,
  linkKey,
  type LinkRecord,
  type MagicLink,
} from "../records/link_record.ts";
import { makeMailId, makeUlid } from "../records/mail_id.ts";
import { newOrg, orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { carries, emailKey, signedInAtMs, stageVerifiedEmail } from "../records/verified_email.ts";
import { stageTakeBack } from "./owners/change_owner.ts";
import type { SignInServices } from "./owners/queued_link.ts";
import { stageAskedLink } from "./asked_link.ts";
import { chooseOrg, type SignInChoice } from "./sign_in_choice.ts";

const magicWindow = defineWindow<[addressHash: string]>("mail-magic-client", {
  holds: "sign-in links that a client address asked for",
  expires: "1 h",
});

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
  const { commits, store: { now, random }, limits, clients } = services;
  const asker = {
    key: magicWindow(clients.hash(askedFrom)),
    limit: limits.mailMagicPerIpPerHour,
    words: "sign-in links an hour from one address; wait and ask again",
  };
  const id = makeUlid(now(), random);
  const link = { kind: "magic", email, orgId, askedFrom } as const;
  await commits.submit((transaction) =>
    stageAskedLink<MagicLink>(transaction, services, asker, id, link)
  );
}

export interface SignedIn {
  org: OrgRecord;
  key: MailKey;
  /** Shown once. */
  apiKey: string;
  /** Other orgs of the address. */
  otherOrgs: readonly string[];
  /** Keys of the org without the new one, whether or not they have expired. */
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
  const link = requireMagic(await records.read<LinkRecord>(linkKey(id)), now());
  return { link, choice: await chooseOrg(services, link, chosen) };
}

function requireMagic(link: LinkRecord | null, nowMs: number): MagicLink {
  if (!isAlive(link, nowMs) || link.kind !== "magic") throw linkExpired();
  return link;
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
  for (;;) {
    const entered = await enter(services, id, chosen);
    if ("apiKey" in entered) return entered;
    // By a commit of its own: one would have more to check than a KV server takes.
    chosen = entered.takenOrgId;
    await takeBack(services, id, chosen);
  }
}

/** @returns what to take back, and nothing is done, where that comes first */
async function enter(
  services: SignInServices,
  id: string,
  chosen: string | null,
): Promise<SignedIn | { takenOrgId: string }> {
  const { store: { now, random }, commits, limits } = services;
  const newId = makeMailId("org", now(), random);
  const secret = makeKeySecret(random);
  return await commits.submit({
    async prepare(reads) {
      const link = requireMagic(await reads.get(linkKey(id)), now());
      // Of several sign-ins at the same time one makes the first org.
      await reads.get(emailKey(link.email));
      const choice = await chooseOrg(services, link, chosen);
      return { link, choice, uses: await readKeyUses(services, choice.org?.id ?? null) };
    },
    plan(transaction, { link, choice: { org: opened, undone, carrying }, uses }) {
      const { email } = requireMagic(link, transaction.nowMs);
      const orgId = opened?.id ?? newId;
      const stored = opened && transaction.record(orgKey(orgId));
      if (stored !== null) refuseSuspended(stored);
      if (undone !== null) return { takenOrgId: orgId };
      if (
        opened !== null && (stored === null || !carries(stored, email, transaction.nowMs, limits))
      ) {
        throw new Outdated(); // it was chosen among rows
      }
      const before = stored ?? newOrg(orgId, transaction.nowMs);
      const keys = transaction.record(keysKey(orgId))?.keys ?? [];
      let org = before;
      if (org.emailProof?.by !== "sign_in") {
        const atMs = signedInAtMs(org, keys) ?? transaction.nowMs;
        org = { ...org, ...stageVerifiedEmail(transaction, org, email, { by: "sign_in", atMs }) };
        transaction.putRecord(orgKey(orgId), org);
      }
      transaction.putRecord(linkKey(id), null);
      const key = stageSignInKey(transaction, orgId, { secret, way: "magic", uses }, random);
      const otherKeys = transaction.record(keysKey(orgId))!.keys.filter((one) => one !== key);
      const otherOrgs = carrying.map((one) => one.id).filter((one) => one !== orgId);
      return { org, key, apiKey: secret.apiKey, otherOrgs, otherKeys };
    },
  });
}

/** Does nothing where the org can no longer be taken back. The link is not spent. */
async function takeBack(services: SignInServices, id: string, orgId: string): Promise<void> {
  const { store: { now, random }, commits, limits } = services;
  const mail = { id: makeUlid(now(), random), random };
  await commits.submit((transaction) => {
    const link = requireMagic(transaction.record(linkKey(id)), transaction.nowMs);
    const org = transaction.record(orgKey(orgId));
    if (org === null || orgState(org, transaction.nowMs, limits) === "gone") return;
    refuseSuspended(org);
    const undone = changeToUndo(org, link, transaction.nowMs);
    if (undone !== null) stageTakeBack(transaction, org, undone, mail, limits);
  });
}
