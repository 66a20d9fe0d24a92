/**
 * How many digests one e-mail address may get, for all agents that name it. Anybody may name any
 * address. Without this cap many agents could flood one mailbox (docs/digest.md).
 */
import { CLOCK_SKEW_MS } from "../../base/time/clock_skew.ts";
import { defineRecord, type RecordKey } from "../../base/storage/commits/record_key.ts";
import { createHash } from "node:crypto";
import { mailboxAddress } from "../../base/mailer/mailbox_address.ts";

/** Digests an address may get within one digest interval, across agents. */
export const DIGESTS_PER_ADDRESS = 4;

/** ["digest-address", SHA-256 of mailboxAddress() as base64url] */
export interface AddressCapRecord {
  v: 1;
  /** Times of its digests, unix ms, oldest first. */
  stampsMs: number[];
}

const capKey = defineRecord<AddressCapRecord, [emailHash: string]>(["digest-address"], 1, {
  holds: "when an e-mail address, without its `+` part, got digests, across agents",
  expires: "6 h",
});

export function addressCapKey(email: string): RecordKey<AddressCapRecord> {
  return capKey(createHash("sha256").update(mailboxAddress(email)).digest("base64url"));
}

/**
 * Whether the address may get one more digest now. Pure.
 * @param ownMs stamp of this digest when it was admitted before and is sent only now: the stamp
 * moves
 * @returns the stamps with this digest's, or when the next digest will be allowed
 */
export function admitDigest(
  stampsMs: readonly number[],
  nowMs: number,
  windowMs: number,
  ownMs: number | null = null,
): { stampsMs: number[] } | { untilMs: number } {
  const others = [...stampsMs];
  const own = ownMs === null ? -1 : others.indexOf(ownMs);
  if (own >= 0) others.splice(own, 1);
  const recent = others.filter((atMs) => atMs > nowMs - windowMs && atMs <= nowMs + CLOCK_SKEW_MS);
  if (recent.length >= DIGESTS_PER_ADDRESS) {
    return { untilMs: recent[recent.length - DIGESTS_PER_ADDRESS]! + windowMs };
  }
  return { stampsMs: [...recent, nowMs].sort((a, b) => a - b) };
}
