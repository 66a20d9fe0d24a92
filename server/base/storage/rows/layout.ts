/** The version of the key layout, and what a store is given once, when it is first opened. */
import type { Backend, Write } from "./backend.ts";
import type { Rows } from "./rows.ts";
import { defineRow } from "./row_key.ts";

/**
 * Raised with every change of keys or values that older versions cannot read.
 *
 * 1. Every send has a row of its signature.
 * 2. On an exclusive store the sends of a commit share one (docs/adr/0042). Nothing is rewritten:
 *    rows of layout 1 are read as long as their signatures pass. A shared store is written as before,
 *    and stays what it is, so that older relays may run beside.
 * 3. An exclusive store has a journal of mailbox records. Every start of this version or a later one reads
 *    it; an older relay would not.
 * 4. The journal has whatever rows a commit changed (docs/adr/0042). Nothing is rewritten: what a relay
 *    of layout 3 left in it is read as well.
 */
export const LAYOUT_VERSION = 4;
const SHARED_LAYOUT_VERSION = 1;

export const LAYOUT_KEY = defineRow(["meta", "layout"], 0, {
  holds: "`{version}`; a newer one stops start-up. 4 as soon as an exclusive relay has opened " +
    "it, else 1",
})();
const ADDRESS_KEY = defineRow(["meta", "address-key"], 0, {
  holds: "32 random bytes under which client addresses and stopped e-mail addresses are hashed",
})();
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
 * Makes sure that the store says which layout it needs, before anything is written in it.
 * @throws NewerLayout
 */
export async function openLayout(
  backend: Pick<Backend, "get" | "commit">,
  exclusive: boolean,
): Promise<void> {
  const version = exclusive ? LAYOUT_VERSION : SHARED_LAYOUT_VERSION;
  for (;;) {
    const { value, versionstamp } = await backend.get<LayoutRecord>(LAYOUT_KEY);
    const found = value?.version ?? 0;
    if (found > LAYOUT_VERSION) throw new NewerLayout(found);
    if (found >= version) return;
    // A failed check may mean that another process wrote it first, or that our own write was repeated.
    const written: Write = { kind: "set", key: LAYOUT_KEY, value: { version } };
    await backend.commit([{ key: LAYOUT_KEY, versionstamp }], [written]);
  }
}

/** The secret under which client addresses are hashed: 32 bytes, made once for each store. */
export async function openAddressKey(
  store: Pick<Rows, "transact">,
  random: (sizeBytes: number) => Uint8Array,
): Promise<Uint8Array> {
  return await store.transact(async (transaction) => {
    const { value } = await transaction.get<Uint8Array>(ADDRESS_KEY);
    if (value !== null) return value;
    const made = random(ADDRESS_KEY_BYTES);
    transaction.set(ADDRESS_KEY, made);
    return made;
  });
}
