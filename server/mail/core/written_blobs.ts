/**
 * The one way for an org's requests to write blobs. How much an org writes in an hour is bounded,
 * whatever becomes of it: what is replaced, or refused after it was written, lies on the disk for a
 * while too (docs/mail.md, "How much").
 */
import type { BlobRef, Blobs } from "../../base/blobs/blobs.ts";
import { rateLimited } from "../../base/errors.ts";
import type { Limits } from "../../base/config/limits.ts";
import { admitOrRefuse, type WindowRule } from "../../base/bounds/rate_window.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { stageWindow, type WindowRecord } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import { fitsQuota, overQuota, storageKey, type StorageRecord } from "./storage_quota.ts";

export interface WrittenBlobsServices {
  blobs: Pick<Blobs, "write">;
  commits: Pick<GroupCommit, "submit">;
  records: Pick<RecordCache, "read">;
  limits: Limits;
  now: () => number;
}

/** ["mail-written", orgId, "bytes"]: what requests of an org wrote within the hour. */
const writtenKey = defineRecord<WindowRecord, [orgId: string, what: "bytes"]>(
  ["mail-written"],
  2,
  { holds: "sliding window of bytes that requests of an org wrote", expires: "1 h" },
);

/** A file takes a block of its disk at least. */
const LEAST_BYTES = 4 * 1024;
/** The record stays at some 600 pairs. */
const BUCKET_MS = HOUR_MS / 600;

export class WrittenBlobs {
  constructor(private readonly services: WrittenBlobsServices) {}

  /**
   * Refuses what write() would refuse now, before work is done for it; it counts nothing.
   * @throws RelayError `rate_limited`
   */
  async look(orgId: string, bytes = 0): Promise<void> {
    this.#look(await this.#read(orgId), bytes);
  }

  /**
   * As Blobs.write(), once its bytes are counted.
   * @param folder org and inbox
   * @param known as Blobs.write() has it
   * @throws RelayError `rate_limited`, `unavailable`
   */
  async write(
    [orgId, inboxId]: [orgId: string, inboxId: string],
    sections: readonly Uint8Array[],
    known?: readonly string[],
  ): Promise<BlobRef> {
    const { records, limits, now, blobs } = this.services;
    const bytes = sections.reduce((sum, { length }) => sum + length, 0);
    const found = await this.#read(orgId);
    this.#look(found, bytes);
    const stored = await records.read<StorageRecord>(storageKey(orgId));
    // The commit decides again.
    if (found.org !== null && !fitsQuota(stored, bytes, found.org, now(), limits)) {
      throw overQuota();
    }
    await this.#count(orgId, bytes, this.#ruleOf(found.org));
    return await blobs.write([orgId, inboxId], sections, known);
  }

  async #read(orgId: string): Promise<{ org: OrgRecord | null; written: WindowRecord | null }> {
    const { records } = this.services;
    return {
      org: await records.read<OrgRecord>(orgKey(orgId)),
      written: await records.read<WindowRecord>(writtenKey(orgId, "bytes")),
    };
  }

  #look(
    { org, written }: { org: OrgRecord | null; written: WindowRecord | null },
    bytes: number,
  ): void {
    const rule = this.#ruleOf(org);
    admitOrRefuse(
      written?.window ?? [],
      this.services.now(),
      rule,
      refusalOf(rule),
      weightOf(bytes),
    );
  }

  /** A commit of its own: what is refused later, or dies with the process, has been counted. */
  async #count(orgId: string, bytes: number, rule: WindowRule): Promise<void> {
    const key = writtenKey(orgId, "bytes");
    await this.services.commits.submit((transaction) =>
      stageWindow(transaction, key, rule, refusalOf(rule), weightOf(bytes))
    );
  }

  #ruleOf(org: OrgRecord | null): WindowRule {
    const { limits } = this.services;
    const isTrial = org !== null && org.trialEndsAtMs !== null;
    const limit = isTrial
      ? limits.mailWrittenBytesPerTrialPerHour
      : limits.mailWrittenBytesPerOrgPerHour;
    return { limit, windowMs: HOUR_MS, bucketMs: BUCKET_MS };
  }
}

const weightOf = (bytes: number) => Math.max(LEAST_BYTES, bytes);

const refusalOf = ({ limit }: WindowRule) => (retryAfterMs: number) =>
  rateLimited(
    `the messages and drafts that an org has the relay write take at most ${limit} bytes an hour, those that were replaced too; wait, then send it again`,
    retryAfterMs,
  );
