/** What follows, in the same commit, when an identity makes somebody the owner of an org. */
import type { Turn } from "../storage/job.ts";
import type { RecordKey } from "../storage/record_key.ts";
import type { OrgRecord } from "./records/org_record.ts";

/** Who asks, and what for. */
export interface OwnerChangeAsked {
  /** The identity; `email` as cleanEmail() gives it. */
  identity: { sub: string; email: string };
  /** The org as it was read before the commit; null for one that is made now. */
  org: OrgRecord | null;
  /** Prefix of the key that attaches the identity; null for a sign-in, which makes an org. */
  keyPrefix: string | null;
  /** Address of the client, as limits count it. */
  askedFrom: string;
}

export interface OwnerChange {
  /** What the job is to name among its records. */
  records: readonly RecordKey<unknown>[];
  /**
   * Run once in the commit, such as to mail the former owner a link that undoes it.
   * @param before null for an org that is made now
   * @returns the org as it is to be written
   * @throws Outdated where the org has changed since it was read
   */
  stage(turn: Turn, before: OrgRecord | null, after: OrgRecord): OrgRecord;
  /** Run after the commit. */
  committed(): void;
}

export type PrepareOwnerChange = (asked: OwnerChangeAsked) => OwnerChange;
