/** A store that lets a test delay single reads. */
import { rawOf } from "./read_through.ts";

export interface DelayedReads {
  kv: Deno.Kv;
  /** From now on, reads of keys that match wait in order until they are released. */
  hold(matches: (key: Deno.KvKey) => boolean): void;
  /** Lets the first of the waiting reads go on. */
  releaseOne(): void;
  /** Lets all waiting reads, and all later ones, go on. */
  release(): void;
  /** Resolves when this many reads wait. */
  reached(count: number): Promise<void>;
}

export function delayReads(given: Deno.Kv): DelayedReads {
  const kv = rawOf(given);
  let matches: (key: Deno.KvKey) => boolean = () => false;
  const waiting: (() => void)[] = [];
  let watchers: { count: number; resolve: () => void }[] = [];

  async function get(key: Deno.KvKey, options?: Parameters<Deno.Kv["get"]>[1]) {
    if (matches(key)) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        watchers = watchers.filter((watcher) => {
          if (waiting.length < watcher.count) return true;
          watcher.resolve();
          return false;
        });
      });
    }
    return await kv.get(key, options);
  }

  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (name === "get") return get;
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    hold: (condition) => void (matches = condition),
    releaseOne: () => waiting.shift()?.(),
    release() {
      matches = () => false;
      for (const resolve of waiting.splice(0)) resolve();
    },
    reached: (count) =>
      waiting.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void watchers.push({ count, resolve })),
  };
}
