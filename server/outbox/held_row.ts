/** A row of the outbox under a lease: every change is checked against the last one. */
import { isDatabaseLocked, retryWhileLocked } from "../storage/lock_retry.ts";
import { randomId } from "../storage/random_id.ts";
import type { Store } from "../storage/store.ts";
import { LeaseLost } from "./outgoing_handler.ts";
import { dueKey, type DueRow, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

export interface LeaseTiming {
  /** How long a lease lasts unless renewed, in ms; at most 60,000. */
  leaseMs: number;
  /** How far hosts' clocks may differ: a lease is over for others this much later, in ms. */
  clockSkewMs: number;
}

export class HeldRow {
  #row: OutgoingRow;
  #version: string;
  /** Changes are made one after the other: each rests on the one before. */
  #last: Promise<unknown> = Promise.resolve();
  #released = false;

  private constructor(
    readonly id: string,
    private readonly store: Store,
    private readonly timing: LeaseTiming,
    row: OutgoingRow,
    version: string,
  ) {
    this.#row = row;
    this.#version = version;
  }

  /**
   * Leases a row that is due, or whose lease is over.
   * @param dueMs where the index has it
   * @returns null when it is gone, due at another time or taken by another
   */
  static async lease(
    id: string,
    dueMs: number,
    store: Store,
    timing: LeaseTiming,
  ): Promise<HeldRow | null> {
    const lease = randomId(store);
    const { kv } = store;
    return await retryWhileLocked(async () => {
      const found = await kv.get<OutgoingRow>(outgoingKey(id));
      if (found.value === null || found.value.dueMs !== dueMs) {
        await kv.atomic().check(found).delete(dueKey(dueMs, id)).commit();
        return null;
      }
      const nowMs = store.now();
      const row: OutgoingRow = {
        ...found.value,
        lease,
        dueMs: nowMs + timing.leaseMs + timing.clockSkewMs,
        // A row that may have been handed over is not attempted, it is settled.
        attempts: found.value.attempts + (found.value.phase === "ready" ? 1 : 0),
        revision: found.value.revision + 1,
      };
      const operation = kv.atomic().check(found)
        .delete(dueKey(dueMs, id))
        .set(outgoingKey(id), row)
        .set(dueKey(row.dueMs, id), { v: 1, kind: row.kind, leased: true } satisfies DueRow);
      // Whatever a network makes of the answer, the lease's own id tells whether it was applied.
      const { error } = await outcomeOf(operation);
      const settled = await kv.get<OutgoingRow>(outgoingKey(id));
      if (settled.value?.lease !== lease) {
        if (error !== undefined) throw error;
        return null;
      }
      return new HeldRow(id, store, timing, settled.value, settled.versionstamp!);
    });
  }

  get row(): OutgoingRow {
    return this.#row;
  }

  /** Whether the data marker is committed: an attempt that is over then is not repeated. */
  mayBeHandedOver(): boolean {
    return this.#row.phase === "data";
  }

  /** Makes the lease last its whole length again. @throws LeaseLost */
  renew(): Promise<void> {
    return this.#change((row) => ({
      ...row,
      dueMs: this.store.now() + this.timing.leaseMs + this.timing.clockSkewMs,
    }));
  }

  /** Records that the content may be handed over from now on. @throws LeaseLost */
  markData(): Promise<void> {
    return this.#change((row) => ({ ...row, phase: "data" }));
  }

  /** Gives the row back, due at another time. @throws LeaseLost */
  release(changes: Partial<OutgoingRow> & { dueMs: number }): Promise<void> {
    return this.#change((row) => ({ ...row, ...changes, phase: "ready", lease: null }));
  }

  /** Takes the row off the outbox, with whatever else belongs into that commit. @throws LeaseLost */
  remove(also: (operation: Deno.AtomicOperation) => void): Promise<void> {
    return this.#change(() => null, also);
  }

  #change(
    next: (row: OutgoingRow) => OutgoingRow | null,
    also: (operation: Deno.AtomicOperation) => void = () => {},
  ): Promise<void> {
    const change = this.#last.then(() => this.#commit(next, also));
    this.#last = change.catch(() => {});
    return change;
  }

  async #commit(
    next: (row: OutgoingRow) => OutgoingRow | null,
    also: (operation: Deno.AtomicOperation) => void,
  ): Promise<void> {
    if (this.#released) throw new LeaseLost();
    const { kv } = this.store;
    const { id } = this;
    const key = outgoingKey(id);
    const before = this.#row;
    const changed = next(before);
    const row = changed === null ? null : { ...changed, revision: before.revision + 1 };
    await retryWhileLocked(async () => {
      const operation = kv.atomic().check({ key, versionstamp: this.#version });
      if (row === null || row.dueMs !== before.dueMs) operation.delete(dueKey(before.dueMs, id));
      if (row === null) operation.delete(key);
      else {
        operation.set(key, row);
        const { dueMs, kind, lease } = row;
        operation.set(dueKey(dueMs, id), { v: 1, kind, leased: lease !== null } satisfies DueRow);
      }
      also(operation);
      const { versionstamp, error } = await outcomeOf(operation);
      if (versionstamp !== undefined) {
        this.#version = versionstamp;
        return;
      }
      // Reported as failed, and yet the row may be as this change leaves it.
      const found = await kv.get<OutgoingRow>(key);
      const isApplied = row === null
        ? found.value === null
        : found.value?.revision === row.revision && found.value.lease === row.lease;
      if (!isApplied) {
        const isUntouched = found.versionstamp === this.#version;
        throw isUntouched && error !== undefined ? error : new LeaseLost();
      }
      if (found.versionstamp !== null) this.#version = found.versionstamp;
    });
    if (row === null || row.lease === null) this.#released = true;
    if (row !== null) this.#row = row;
  }
}

/** The versionstamp of a commit, or the error it ended with where there was one. */
async function outcomeOf(
  operation: Deno.AtomicOperation,
): Promise<{ versionstamp?: string; error?: unknown }> {
  try {
    const outcome = await operation.commit();
    return outcome.ok ? { versionstamp: outcome.versionstamp } : {};
  } catch (error) {
    if (isDatabaseLocked(error)) throw error; // nothing was applied: the caller repeats it
    return { error };
  }
}

/** Ends every lease: what former processes of an exclusive store held is due now. */
export async function freeLeases(store: Store): Promise<void> {
  const { kv } = store;
  const leased: string[] = [];
  for await (const { key, value } of kv.list<DueRow>({ prefix: ["outgoing-due"] })) {
    if (value.leased) leased.push(key[2] as string);
  }
  for (const id of leased) {
    await retryWhileLocked(async () => {
      const found = await kv.get<OutgoingRow>(outgoingKey(id));
      if (found.value === null || found.value.lease === null) return;
      const row = { ...found.value, lease: null, dueMs: store.now() };
      await kv.atomic().check(found)
        .delete(dueKey(found.value.dueMs, id))
        .set(outgoingKey(id), row)
        .set(dueKey(row.dueMs, id), { v: 1, kind: row.kind, leased: false } satisfies DueRow)
        .commit();
    });
  }
}
