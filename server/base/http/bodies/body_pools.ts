/**
 * Which request bodies share a budget and a time. Bodies of one pool give way to each other alone, so that
 * mails of many megabytes take no room from sends.
 */
import type { BodyBounds } from "./body_budget.ts";

/** "messages": all routes except the mail area's. */
export type BodyPoolName = "messages" | "mail";

/** What a route takes as its body. */
export interface RouteBody {
  /** Greatest size that is accepted. */
  limitBytes: number;
  pool: BodyPoolName;
}

export interface BodyPoolRules {
  bounds: BodyBounds;
  /** Milliseconds a body has to complete, by how many bytes have come; cut off at most one tick later. */
  allowedMs(cameBytes: number): number;
  /**
   * Bodies incomplete after a second that the pool keeps whatever the others have. The sum over all
   * pools bounds the process: each costs 30 to 150 KB, little or nothing of it for bytes that came.
   */
  unfinishedShare: number;
}

export type BodyPools = Readonly<Record<BodyPoolName, BodyPoolRules>>;

const KIB = 1024;
const MIB = 1024 * KIB;

/** docs/api.md, "Limits": a body not complete within 15 s is refused. */
const BASE_MS = 15_000;
/** Mail, "Limits": one more second for each such piece that came, up to so much in all. */
const MAIL_BYTES_PER_SECOND = 128 * KIB;
const MAIL_GREATEST_MS = 120_000;

export const BODY_POOLS: BodyPools = {
  messages: {
    bounds: { totalBytes: 128 * MIB, smallBytes: 16 * KIB, smallTotalBytes: 32 * MIB },
    allowedMs: () => BASE_MS,
    unfinishedShare: 1536,
  },
  mail: {
    bounds: { totalBytes: 128 * MIB, smallBytes: 16 * KIB, smallTotalBytes: 8 * MIB },
    allowedMs: (cameBytes) =>
      Math.min(MAIL_GREATEST_MS, BASE_MS + 1000 * Math.floor(cameBytes / MAIL_BYTES_PER_SECOND)),
    unfinishedShare: 512,
  },
};
