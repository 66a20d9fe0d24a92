/** The version of the key layout, and what a store is given once, when it is first opened. */
import { retryWhileLocked } from "./lock_retry.ts";

/** Raised with every change of keys or values that older versions cannot read. */
export const LAYOUT_VERSION = 1;

const LAYOUT_KEY: Deno.KvKey = ["meta", "layout"];
const ADDRESS_KEY: Deno.KvKey = ["meta", "address-key"];
const ADDRESS_KEY_BYTES = 32;

interface LayoutRecord {
  version: number;
}

/** The store was written by a later version of the relay. */
export class NewerLayout extends Error {
  constructor(found: number) {
    super(
      `the store has layout ${found}, this relay knows layouts up to ${LAYOUT_VERSION}; start the newer relay that wrote it`,
    );
  }
}

/**
 * Makes sure that the store has the layout of this version.
 * @throws NewerLayout
 */
export async function openLayout(kv: Deno.Kv): Promise<void> {
  const layout = await retryWhileLocked(() => kv.get<LayoutRecord>(LAYOUT_KEY));
  if (layout.value !== null) {
    if (layout.value.version > LAYOUT_VERSION) throw new NewerLayout(layout.value.version);
    return;
  }
  // The first process writes it; the others find the same.
  await retryWhileLocked(() =>
    kv.atomic().check(layout).set(LAYOUT_KEY, { version: LAYOUT_VERSION }).commit()
  );
}

/** The secret under which client addresses are hashed: 32 bytes, made once for each store. */
export async function openAddressKey(
  kv: Deno.Kv,
  random: (sizeBytes: number) => Uint8Array,
): Promise<Uint8Array> {
  return await retryWhileLocked(async () => {
    for (;;) {
      const stored = await kv.get<Uint8Array>(ADDRESS_KEY);
      if (stored.value !== null) return stored.value;
      await kv.atomic().check(stored).set(ADDRESS_KEY, random(ADDRESS_KEY_BYTES)).commit();
    }
  });
}
