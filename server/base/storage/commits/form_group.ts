/** Decides which of the waiting jobs leave together in the next commit. */
import { CeilingReached, type IdSequence } from "./id_sequence.ts";
import { type GroupAnnotation, isFor } from "./job.ts";
import type { JobQueue, Pending } from "./job_queue.ts";
import { JobTransaction, PlanGroup } from "./plan_group.ts";
import { type RecordCache, recordName } from "./record_cache.ts";
import type { RecordKey } from "./record_key.ts";
import type { Store } from "../rows/store.ts";

export interface Forming {
  store: Store;
  records: RecordCache;
  ids: IdSequence;
  queue: JobQueue;
  annotations: readonly GroupAnnotation[];
  /** The job's records have to be read before it can be planned. */
  reload(pending: Pending): void;
  /** Whether an attempt of the job has come late has to be found out before it can be tried again. */
  look(pending: Pending): void;
  /** The job's plan refused. */
  refuse(pending: Pending, error: unknown): void;
}

/**
 * Takes the longest prefix of the queue that fits one commit, without the jobs whose records are
 * held.
 * @returns a group whose records are locked, or null when no job can leave now
 */
export function formGroup(forming: Forming): PlanGroup | null {
  const { store, records, queue } = forming;
  const group = new PlanGroup(forming);
  /**
   * Records of jobs that were passed over, now or often before, each with the locked record that its
   * job waits for, if any.
   */
  const held = new Map<string, string | null>(queue.reserved);
  const left: Pending[] = [];
  let apart: string | null = null;
  const waiting = queue.takeWaiting();
  const { refusal } = store.clock;
  const isHeld = (name: string) => held.has(name);
  const passOver = (pending: Pending, lockedRecord: string | null) => {
    for (const name of pending.records.keys()) if (!held.has(name)) held.set(name, lockedRecord);
    if (lockedRecord === null) left.push(pending);
    else queue.park(lockedRecord, pending);
  };
  let at = 0;
  for (; at < waiting.length; at++) {
    const pending = waiting[at]!;
    if (pending.answered) continue;
    if (refusal !== null && pending.job.whateverTheClock !== true) {
      if (pending.tried.length === 0) queue.reject(pending, refusal);
      else queue.giveUp(pending, refusal); // an attempt may have been stored
      continue;
    }
    const blocked = held.size > 0 ? pending.records.keys().find(isHeld) : undefined;
    if (blocked !== undefined) {
      passOver(pending, held.get(blocked)!);
      continue;
    }
    const state = stateOf(pending, records);
    if (state === "missing") {
      forming.reload(pending);
      continue;
    }
    if (state !== "ready") {
      passOver(pending, state.lockedRecord);
      continue;
    }
    if (group.members.length > 0 && pending.apart !== apart) {
      passOver(pending, null);
      continue;
    }
    if (!group.mayTake(pending.records.keys())) break;
    const transaction = new JobTransaction(group, isHeld);
    const planned = plan(pending, transaction);
    for (const [name, { key }] of transaction.entries) pending.records.set(name, key);
    if (transaction.waits !== null) {
      if ("missing" in transaction.waits) askFor(transaction.waits.missing, pending, forming);
      else {
        const { held: name } = transaction.waits;
        pending.records.set(name, records.peekUnused(name)!.key);
        passOver(pending, held.has(name) ? held.get(name)! : name);
      }
      continue;
    }
    try {
      if ("error" in planned) throw planned.error;
      if (mayHoldAttempt(pending, transaction)) {
        forming.look(pending);
        continue;
      }
      if (group.repeats(transaction)) {
        passOver(pending, null); // it is planned on what the commit leaves
        continue;
      }
      if (!group.add(pending, planned.result, transaction)) break;
      apart = pending.apart;
    } catch (error) {
      // The decision rests on a state that is not committed yet, or the job needs a higher ceiling.
      if (transaction.sawStaged || error instanceof CeilingReached) passOver(pending, null);
      else forming.refuse(pending, error);
    }
  }
  queue.putBack(at < waiting.length ? left.concat(waiting.slice(at)) : left);
  if (group.members.length === 0) return null;
  if (!annotate(group, forming)) return formGroup(forming); // its jobs are answered: try the others
  group.lock();
  return group;
}

/** What a plan gives, or throws. */
function plan(
  { job, prepared }: Pending,
  transaction: JobTransaction,
): { result: unknown } | { error: unknown } {
  try {
    for (const [key, versionstamp] of prepared.reads) transaction.requireVersion(key, versionstamp);
    return { result: job.plan(transaction, prepared.value) };
  } catch (error) {
    return { error };
  }
}

/**
 * Whether a plan may have seen what an unclear attempt of its job has stored: records that were read
 * after the store was asked for the attempt. One that comes later makes the commit fail.
 */
function mayHoldAttempt({ tried, lookedAt }: Pending, { entries }: JobTransaction): boolean {
  return tried.length > 0 && entries.values().some(({ readAs }) => readAs > lookedAt);
}

/** Reads a record that a plan asked for and that memory lacks. */
function askFor(key: RecordKey<unknown>, pending: Pending, { reload }: Forming): void {
  pending.records.set(recordName(key), key);
  reload(pending);
}

function stateOf(
  pending: Pending,
  records: RecordCache,
): "ready" | "missing" | { lockedRecord: string } {
  let lockedRecord: string | undefined;
  for (const name of pending.records.keys()) {
    const entry = records.peek(name);
    if (entry === undefined) return "missing";
    if (entry.locked) lockedRecord ??= name;
  }
  return lockedRecord === undefined ? "ready" : { lockedRecord };
}

/** @returns false when an annotation failed: then nothing of the group may be stored */
function annotate(group: PlanGroup, { annotations, queue }: Forming): boolean {
  const all = group.members.map((member) => member.result);
  try {
    for (const annotation of annotations) {
      const results = all.filter((result) => isFor(annotation, result));
      if (results.length === 0) continue;
      const transaction = new JobTransaction(group);
      annotation.annotate(results, transaction);
      group.addRows(transaction);
    }
    return true;
  } catch (error) {
    for (const { pending } of group.members) queue.reject(pending, error);
    return false;
  }
}
