/** A store that counts what is read from it, by the first part of the key. */
import { rawOf } from "./read_through.ts";

export interface CountedReads {
  kv: Deno.Kv;
  /** Rows read since the last call, each counted once. */
  takeCounts(): Record<string, number>;
}

export function countReads(given: Deno.Kv): CountedReads {
  const kv = rawOf(given);
  let counts: Record<string, number> = {};
  const count = (key: Deno.KvKey, rows = 1) => {
    const name = String(key[0]);
    counts[name] = (counts[name] ?? 0) + rows;
  };
  const reads = {
    get(key: Deno.KvKey, options?: Parameters<Deno.Kv["get"]>[1]) {
      count(key);
      return kv.get(key, options);
    },
    getMany(keys: Deno.KvKey[], options?: Parameters<Deno.Kv["getMany"]>[1]) {
      for (const key of keys) count(key);
      return kv.getMany(keys, options);
    },
    /** A list reads batches: rows of a batch that the caller does not take have been read too. */
    async *list(selector: Deno.KvListSelector, options: Deno.KvListOptions = {}) {
      const batchSize = Math.min(options.batchSize ?? 100, options.limit ?? Infinity);
      let inBatch = 0;
      for await (const row of kv.list(selector, options)) {
        if (inBatch++ % batchSize === 0) {
          const start = row.key;
          const end = "end" in selector ? { end: selector.end } : { prefix: selector.prefix };
          const batch = await Array.fromAsync(
            options.reverse ? [] : kv.list({ start, ...end } as Deno.KvListSelector, {
              limit: batchSize,
            }),
          );
          count(row.key, batch.length);
        }
        yield row;
      }
    },
  };
  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (name in reads) return reads[name as keyof typeof reads];
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    takeCounts() {
      const taken = counts;
      counts = {};
      return taken;
    },
  };
}
