/** Which local parts an inbox may have (docs/mail.md, "Inboxes"). Pure. */
import type { MailConfig } from "../../../base/config/mail_config.ts";
import { adjectives, animals } from "../../../../wordlists/mod.ts";
import { invalidJson, RelayError } from "../../../base/errors.ts";

const LOCAL_PART = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const FORM =
  "1 to 64 characters of a-z, 0-9, dot, hyphen and underscore, a letter or digit first " +
  "and last, no two dots in a row";

/**
 * Frozen: names that strangers take for the operator of a domain (RFC 2142), or for the relay. They
 * are compared without dots, hyphens and underscores.
 */
const RESERVED: ReadonlySet<string> = new Set(
  ("info marketing sales support abuse noc security postmaster hostmaster usenet news webmaster " +
    "www uucp ftp bounce mailerdaemon noreply donotreply root admin administrator billing " +
    "help system relay mail api ssl").split(" "),
);

/** @returns the local part in lower case. @throws RelayError `invalid_json` */
export function cleanLocalPart(given: unknown): string {
  if (typeof given !== "string") throw invalidJson(`local_part must be a string: ${FORM}`);
  const localPart = given.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (LOCAL_PART.test(localPart) && !localPart.includes("..")) return localPart;
  throw invalidJson(`local_part must be ${FORM}; leave it out for a made-up one`);
}

/**
 * @param own local parts that the relay itself uses at the domain of inboxes
 * @throws RelayError `reserved_local_part`
 */
export function refuseReservedLocalPart(localPart: string, own: readonly string[]): void {
  const name = bare(localPart);
  if (!RESERVED.has(name) && !own.some((reserved) => bare(reserved) === name)) return;
  throw new RelayError(
    "reserved_local_part",
    `the local part "${localPart}" is reserved for the relay itself; choose another, or leave local_part out`,
  );
}

function bare(localPart: string): string {
  return localPart.toLowerCase().replaceAll(/[._-]/g, "");
}

/** A made-up local part, as in "brave-otter-4711". @param random cryptographically random bytes */
export function makeLocalPart(random: (sizeBytes: number) => Uint8Array): string {
  const bytes = random(8);
  const pick = (at: number) => (bytes[at]! << 8 | bytes[at + 1]!);
  const number = (pick(4) * 65_536 + pick(6)) % 10_000;
  const word = (list: readonly string[], at: number) => list[pick(at) % list.length]!;
  return `${word(adjectives, 0)}-${word(animals, 2)}-${String(number).padStart(4, "0")}`;
}

/** Local parts at the domain of inboxes that the relay itself uses, so that no inbox has them. */
export function ownLocalParts({ domain, from, postmaster }: MailConfig): string[] {
  return [from?.address, postmaster].flatMap((address) => {
    const at = address?.lastIndexOf("@") ?? -1;
    if (address === undefined || address.slice(at + 1).toLowerCase() !== domain) return [];
    return [address.slice(0, at).toLowerCase()];
  });
}
