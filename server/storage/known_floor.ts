/**
 * Whether every process on a shared store knows a floor (repeat_floor.ts), and no commit is under way
 * that was planned upon a lower one. Each holder of a writer slot says in its lease what it knows. One
 * that no longer renews its lease loses the slot: whatever it then still commits fails by the slot's
 * owner row, and before it gets another slot it reads the floor.
 */
import { leaseRuns } from "./lease_runs.ts";
import type { Row } from "./rows.ts";
import { type Lease, leaseKey, ownerKey, type SlotTiming } from "./writer_slot.ts";
import type { Store } from "./store.ts";

/** The rows of one slot. */
interface SlotRows {
  owner?: Row<unknown>;
  lease?: Row<Lease>;
}

/** @param version of the floor as it is to be known, or newer */
export async function isFloorKnown(
  store: Pick<Store, "list" | "transact" | "now">,
  version: string,
  { leaseMs, clockSkewMs }: SlotTiming,
): Promise<boolean> {
  let known = true;
  for (const [slot, { owner, lease }] of await readSlots(store)) {
    // Who takes a free slot reads the floor afterwards.
    if (owner === undefined || (lease?.value.floor ?? "") >= version) continue;
    const terms = { lengthMs: leaseMs, skewMs: clockSkewMs };
    const renews = lease !== undefined && leaseRuns(lease.value.untilMs, terms, store.now());
    if (renews || !await takeAway(store, slot, { owner, lease })) known = false;
  }
  return known;
}

async function readSlots(store: Pick<Store, "list">): Promise<Map<number, SlotRows>> {
  const slots = new Map<number, SlotRows>();
  for (const row of await store.list<Lease>({ prefix: ["slot"] })) {
    const [, slot, name] = row.key as [string, number, string];
    if (name !== "owner" && name !== "lease") continue;
    slots.set(slot, { ...slots.get(slot), [name]: row });
  }
  return slots;
}

/** @returns false when its holder has renewed the lease after all */
function takeAway(
  store: Pick<Store, "transact">,
  slot: number,
  { owner, lease }: SlotRows,
): Promise<boolean> {
  return store.transact(async (transaction) => {
    const keys = [ownerKey(slot), leaseKey(slot)] as const;
    const [ownedBy, leased] = await transaction.getMany(keys);
    if (ownedBy.versionstamp !== owner!.versionstamp) return false;
    if (leased.versionstamp !== (lease?.versionstamp ?? null)) return false;
    for (const key of keys) transaction.delete(key);
    return true;
  });
}
