/**
 * Takes the lease of background work; on an exclusive store there is no other process, and none is
 * needed.
 */
import type { Lease, Leases } from "./leases.ts";
import type { Store } from "./store.ts";

const ALONE: Lease = { renew: () => Promise.resolve(true), release: () => Promise.resolve() };

/** @returns null while another process has it */
export async function takeWorkLease(
  store: Store,
  leases: Leases,
  name: string,
  lengthMs: number,
): Promise<Lease | null> {
  return store.exclusive ? ALONE : await leases.take(name, lengthMs);
}
