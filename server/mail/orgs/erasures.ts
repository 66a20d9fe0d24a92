/**
 * What is left of orgs that are gone is erased by a sweep: in small commits, by one process at a
 * time, going on wherever a process was stopped. It begins after the commit that hid the org:
 * every commit of the mail area checks the org's record, so that no row can be added behind it.
 * Addresses stay taken.
 */
import type { Log } from "../../base/log.ts";
import { describeFailure } from "../../base/describe_failure.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import { LeasedSteps } from "../../base/storage/leases/leased_steps.ts";
import type { Leases } from "../../base/storage/leases/leases.ts";
import { isRecordKey } from "../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../base/storage/rows/store.ts";
import { googleKey } from "../records/google_record.ts";
import { emailOrgKey } from "../records/verified_email.ts";
import { inboxKey } from "../records/inbox_record.ts";
import { keyOwnerKey } from "../records/key_record.ts";
import { MESSAGES_CHANGED, type MessagesChanged } from "../records/mailbox_record.ts";
import { orgKey, orgState, publicKeyKey, purgeAtMs, trialKey } from "../records/org_record.ts";
import { erasureKey, type ErasureRow, stageErasure } from "./change_org.ts";

export interface ErasureOptions {
  store: Store;
  commits: GroupCommit;
  leases: Leases;
  limits: Limits;
  log: Log;
  /** Names of the tables that have rows of an org: [name, orgId, ...]. */
  tables: readonly string[];
  /** Rows that go with one of these, and are kept under other keys. */
  alsoErased(row: Deno.KvEntry<unknown>): readonly Deno.KvKey[];
  /** What is erased before the rows, a commit a call. @returns whether there may be more */
  eraseFirst(orgId: string): Promise<boolean>;
}

/** Each may take another with it: the keys of both must fit one commit. */
const ROWS_A_STEP = 80;
/** Records are checked, and a commit over KV Connect checks ten. */
const RECORDS_A_STEP = 6;
const TRIALS_A_LOOK = 1_000;
const [INBOX] = inboxKey.under();

export class Erasures {
  readonly #steps: LeasedSteps<string>;

  constructor(private readonly options: ErasureOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "mail-erasures",
      pending: () => this.#pending(),
      step: (orgId) => this.#step(orgId),
    });
  }

  /** Purges the trials that are due, and works until nothing is left or another process works. */
  async run(): Promise<void> {
    await this.#purgeTrials();
    await this.#steps.run();
  }

  /** Works in the background; what fails is logged, and the next minute tries again. */
  begin(): void {
    this.run().catch((error) => this.options.log("mail_erasure_stopped", describeFailure(error)));
  }

  /** Ends after the step under way; the next process goes on from there. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<string[]> {
    const rows = await this.options.store.list({ prefix: erasureKey.under() });
    return rows.map(({ key }) => key[1] as string);
  }

  async #purgeTrials(): Promise<void> {
    const { store, limits } = this.options;
    // A trial that ended before then is to be purged by now.
    const end = store.now() - (purgeAtMs(0, limits)) + 1;
    const selector = { prefix: trialKey.under(), end: trialKey.under(end) };
    for (const { key } of await store.list(selector, { limit: TRIALS_A_LOOK })) {
      await this.#purgeTrial(key[1] as number, key[2] as string);
    }
  }

  /** An org that was verified meanwhile only loses its row in the list of trials. */
  async #purgeTrial(endsAtMs: number, orgId: string): Promise<void> {
    const { commits, limits } = this.options;
    await commits.submit((transaction) => {
      const org = transaction.record(orgKey(orgId));
      transaction.delete(trialKey(endsAtMs, orgId));
      const isDue = org !== null && org.deletedAtMs === null &&
        orgState(org, transaction.nowMs, limits) === "gone";
      if (isDue) stageErasure(transaction, org);
    });
  }

  /** One commit of an erasure. @returns whether there may be more to do */
  async #step(orgId: string): Promise<boolean> {
    const { store, log, eraseFirst } = this.options;
    if (await eraseFirst(orgId)) return true;
    const rows = await this.#nextRows(orgId);
    if (rows.length > 0) {
      await this.#erase(rows);
      return true;
    }
    const { value: erasure } = await store.get<ErasureRow>(erasureKey(orgId));
    if (erasure === null) return false;
    const hashes = erasure.keyHashes.slice(0, RECORDS_A_STEP);
    if (hashes.length > 0) {
      await this.#eraseKeys(orgId, erasure, hashes);
      return true;
    }
    await this.#end(orgId);
    log("mail_org_erased", { org_id: orgId });
    return false;
  }

  async #nextRows(orgId: string): Promise<Deno.KvEntry<unknown>[]> {
    const { store, tables } = this.options;
    for (const table of tables) {
      const rows = await store.list({ prefix: [table, orgId] }, { limit: ROWS_A_STEP });
      if (rows.length === 0) continue;
      const firstRow = rows.findIndex(({ key }) => !isRecordKey(key));
      if (firstRow === 0) {
        const end = rows.findIndex(({ key }) => isRecordKey(key));
        return end < 0 ? rows : rows.slice(0, end);
      }
      return rows.slice(0, Math.min(RECORDS_A_STEP, firstRow < 0 ? rows.length : firstRow));
    }
    return [];
  }

  async #erase(erased: readonly Deno.KvEntry<unknown>[]): Promise<void> {
    const keys = erased.map(({ key }) => key);
    const records = keys.filter(isRecordKey);
    const rows = keys.filter((key) => !isRecordKey(key));
    const others = erased.flatMap((row) => this.options.alsoErased(row));
    await this.options.commits.submit((transaction) => {
      for (const key of records) {
        transaction.putRecord(key, null);
        if (key[0] !== INBOX) continue;
        const [, orgId, inboxId] = key as string[];
        transaction.announce(MESSAGES_CHANGED, { orgId, inboxId } as MessagesChanged);
      }
      for (const key of [...rows, ...others]) transaction.delete(key);
    });
  }

  async #eraseKeys(orgId: string, erasure: ErasureRow, hashes: readonly string[]): Promise<void> {
    await this.options.commits.submit((transaction) => {
      for (const hash of hashes) transaction.putRecord(keyOwnerKey(hash), null);
      const keyHashes = erasure.keyHashes.slice(hashes.length);
      transaction.set(erasureKey(orgId), { ...erasure, keyHashes } satisfies ErasureRow);
    });
  }

  /**
   * The org itself, its public key, which is free once its registration cannot be repeated, and the
   * Google identity that names it still.
   */
  async #end(orgId: string): Promise<void> {
    const key = orgKey(orgId);
    await this.options.commits.submit((transaction) => {
      transaction.delete(erasureKey(orgId));
      const org = transaction.record(key);
      if (org === null) return;
      const { publicKey, google, trialEndsAtMs, verifiedEmail } = org;
      transaction.putRecord(key, null);
      const owner = publicKey === null ? null : transaction.record(publicKeyKey(publicKey));
      if (publicKey !== null && owner?.orgId === orgId) { // else registered again meanwhile
        const leftMs = owner.replayableUntilMs - transaction.nowMs;
        if (leftMs <= 0) transaction.putRecord(publicKeyKey(publicKey), null);
        else transaction.putRecord(publicKeyKey(publicKey), owner, leftMs + EXPIRY_MARGIN_MS);
      }
      if (google !== null && transaction.record(googleKey(google.sub))?.orgId === orgId) {
        transaction.putRecord(googleKey(google.sub), null);
      }
      if (trialEndsAtMs !== null) transaction.delete(trialKey(trialEndsAtMs, orgId));
      if (verifiedEmail !== null) transaction.delete(emailOrgKey(verifiedEmail, orgId));
    });
  }
}
