/** Tells which marks were written: as a KV server's watch says, or as a shared file looks each second. */
import type { Store } from "../storage/rows/store.ts";
import { ALL_SHARDS, wakeKey } from "./wake_marks.ts";

export interface MarkWatchOptions {
  store: Pick<Store, "getMany" | "watch">;
  marks: Deno.KvKey;
  /** Whether a watch reports other processes' writes: on a KV server, not on a shared file. */
  watchable: boolean;
  /** Called with shards whose marks were written; with all at the first look and after a broken watch. */
  changed(shards: readonly number[]): void;
}

export class MarkWatch {
  readonly #keys: Deno.KvKey[];
  /** Versionstamps of the marks as last seen; none before the first look. */
  #seen: (string | null)[] | null = null;
  #watch: ReadableStreamDefaultReader<unknown> | null = null;
  #isOn = false;

  constructor(private readonly options: MarkWatchOptions) {
    this.#keys = ALL_SHARDS.map((shard) => wakeKey(options, shard));
  }

  begin(): void {
    this.#isOn = true;
    if (this.options.watchable) void this.#openWatch();
  }

  /** A second has passed. */
  tick(): void {
    if (!this.options.watchable) void this.#look();
    else if (this.#watch === null) void this.#openWatch(); // it broke: again every tick
  }

  rest(): void {
    this.#isOn = false;
    this.#seen = null;
    void this.#watch?.cancel().catch(() => {});
    this.#watch = null;
  }

  async #look(): Promise<void> {
    try {
      this.#compare(await this.options.store.getMany(this.#keys));
    } catch {
      // The next tick looks again.
    }
  }

  async #openWatch(): Promise<void> {
    let watch: ReadableStreamDefaultReader<Deno.KvEntryMaybe<unknown>[]> | null = null;
    this.#seen = null;
    try {
      watch = this.options.store.watch(this.#keys).getReader();
      this.#watch = watch;
      for (;;) {
        const { done, value } = await watch.read();
        if (done || this.#watch !== watch) break;
        this.#compare(value);
      }
    } catch {
      // Broken: the next tick opens another.
    }
    if (this.#watch !== watch) return; // closed by us
    this.#watch = null;
    // Nobody has seen what was marked meanwhile.
    if (this.#isOn) this.options.changed(ALL_SHARDS);
  }

  #compare(entries: readonly Deno.KvEntryMaybe<unknown>[]): void {
    if (!this.#isOn) return;
    const before = this.#seen;
    const now = entries.map(({ versionstamp }) => versionstamp);
    this.#seen = now;
    // The first look misses what came between a poll's reading and the look.
    const changed = ALL_SHARDS.filter((shard) => before === null || before[shard] !== now[shard]);
    if (changed.length > 0) this.options.changed(changed);
  }
}
