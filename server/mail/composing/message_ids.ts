/** What a message of ours needs of chance. */
import { Buffer } from "node:buffer";
import { makeUlid } from "../records/mail_id.ts";

const BOUNDARY_BYTES = 16;

type Random = (sizeBytes: number) => Uint8Array;

/**
 * A Message-ID without brackets (RFC 5322, section 3.6.4): a ULID of its own, which says nothing of
 * the message's id.
 * @param domain of the relay's inboxes
 * @param random cryptographically random bytes
 */
export function makeRfcMessageId(nowMs: number, random: Random, domain: string): string {
  return `${makeUlid(nowMs, random).toLowerCase()}@${domain}`;
}

/** 32 hex digits that no content can know: MailToCompose.boundary. */
export function makeBoundary(random: Random): string {
  return Buffer.from(random(BOUNDARY_BYTES)).toString("hex");
}
