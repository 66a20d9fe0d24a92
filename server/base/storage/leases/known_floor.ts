/**
 * Whether every process on a shared store knows a floor (repeat_floor.ts), and no commit is under way
 * that was planned upon a lower one. Each holder of a writer slot says in its lease what it knows. One
 * that no longer renews its lease loses the slot: whatever it then still commits fails by the slot's
 * owner row, and before it gets another slot it reads the floor.
 */
import { leaseRuns, type LeaseTiming } from "./lease.ts";
import { slotKeys, type SlotLeaseRow, slotOwnerKey } from "./writer_slot.ts";
import type { Store } from "../rows/store.ts";

/** @param version of the floor as it is to be known, or newer */
export async function isFloorKnown(
  store: Pick<Store, "list" | "transact" | "now">,
  version: string,
  timing: LeaseTiming,
): Promise<boolean> {
  let known = true;
  for (const { key: [, slot, name] } of await store.list({ prefix: slotOwnerKey.under() })) {
    // A process that takes a free slot reads the floor afterwards.
    if (name !== "owner") continue;
    const isKnownOrTaken = await store.transact(async (transaction) => {
      const keys = slotKeys(slot as number);
      const [owner, lease] = await transaction.getMany<[unknown, SlotLeaseRow]>(keys);
      if (owner.value === null || (lease.value?.floor ?? "") >= version) return true;
      if (leaseRuns(lease.value?.untilMs ?? 0, timing, store.now())) return false;
      for (const key of keys) transaction.delete(key);
      return true;
    });
    known &&= isKnownOrTaken;
  }
  return known;
}
