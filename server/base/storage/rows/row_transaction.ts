import type { MaybeRow, RowCheck, Write } from "./backend.ts";

/** What one transact() reads for its decision, and what it is to store. */
export class RowTransaction {
  readonly checks: RowCheck[] = [];
  readonly writes: Write[] = [];

  constructor(
    private readonly read: <T>(keys: readonly Deno.KvKey[]) => Promise<MaybeRow<T>[]>,
  ) {}

  /** A row, or that there is none: nothing is stored if another changes that before the commit. */
  async get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    return (await this.getMany<[T]>([key]))[0];
  }

  /** Rows in the order of their keys, as get() each. */
  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [I in keyof T]: Deno.KvKey }],
  ): Promise<{ [I in keyof T]: MaybeRow<T[I]> }> {
    const rows = await this.read<unknown>(keys);
    for (const { key, versionstamp } of rows) this.checks.push({ key, versionstamp });
    return rows as { [I in keyof T]: MaybeRow<T[I]> };
  }

  set(key: Deno.KvKey, value: unknown, { expireInMs }: { expireInMs?: number } = {}): void {
    this.writes.push({ kind: "set", key, value, expireInMs });
  }

  delete(key: Deno.KvKey): void {
    this.writes.push({ kind: "delete", key });
  }

  /** Adds to a counter, a Deno.KvU64. */
  sum(key: Deno.KvKey, amount: bigint): void {
    this.writes.push({ kind: "sum", key, amount });
  }
}
