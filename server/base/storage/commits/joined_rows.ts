/** Rows of a commit that several jobs write together, each its own bytes: one mutation for all. */
import type { Write } from "../rows/backend.ts";
import { keySizeBytes } from "../rows/stored_size.ts";

/** Bytes of one job for such a row. */
export interface JoinedPart {
  key: Deno.KvKey;
  bytes: Uint8Array;
}

interface JoinedRow {
  key: Deno.KvKey;
  parts: Uint8Array[];
  sizeBytes: number;
}

/** Deno KV refuses values of more than 65,536 bytes, what encloses them included. */
const ROW_BYTES = 65_000;

export class JoinedRows {
  /** A group writes few: they are looked at one after the other. */
  readonly #rows: JoinedRow[] = [];

  /**
   * What parts would add to the commit, or null where a row has no room left for them.
   * @param parts of one job, each for a row of its own
   */
  sizeOf(
    parts: readonly JoinedPart[],
  ): { mutations: number; bytes: number; keyBytes: number } | null {
    const size = { mutations: 0, bytes: 0, keyBytes: 0 };
    for (const { key, bytes } of parts) {
      const row = this.#find(key);
      if ((row?.sizeBytes ?? 0) + bytes.length > ROW_BYTES) return null;
      size.bytes += bytes.length;
      if (row !== undefined) continue;
      size.mutations++;
      size.bytes += 24;
      size.keyBytes += keySizeBytes(key);
    }
    return size;
  }

  add({ key, bytes }: JoinedPart): void {
    const row = this.#find(key);
    if (row === undefined) {
      this.#rows.push({ key, parts: [bytes], sizeBytes: bytes.length });
      return;
    }
    row.parts.push(bytes);
    row.sizeBytes += bytes.length;
  }

  /** The rows as a commit writes them. */
  writes(): Write[] {
    return this.#rows.map(({ key, parts, sizeBytes }) => {
      const value = new Uint8Array(sizeBytes);
      let at = 0;
      for (const part of parts) {
        value.set(part, at);
        at += part.length;
      }
      return { kind: "set", key, value };
    });
  }

  #find(key: Deno.KvKey): JoinedRow | undefined {
    return this.#rows.find((row) =>
      row.key.length === key.length && row.key.every((part, i) => part === key[i])
    );
  }
}
