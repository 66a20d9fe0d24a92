/**
 * Says whether the files of blobs are those of this store. A relay that is started with an empty
 * store beside the files of another would sweep them all, before its operator has put the right one
 * back: such files are left alone.
 */
import { join } from "node:path";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { randomId } from "../storage/random_id.ts";
import type { Store } from "../storage/store.ts";

/** ["meta","blob-files"]: made with the first file, and what the mark beside the files says too. */
interface MarkRow {
  v: 1;
  id: string;
}

const KEY: Deno.KvKey = ["meta", "blob-files"];
const FILE = "store";

export class StoreMark {
  #isMade = false;

  /** @param root folder of all blobs */
  constructor(private readonly store: Store, private readonly root: string) {}

  /** False where the mark beside the files is of another store. Without one they are taken for ours. */
  async isOurs(): Promise<boolean> {
    const beside = await this.#readFile();
    return beside === null || beside === await this.#readRow();
  }

  /** Before the first file: makes row and mark where there are none, and changes none. */
  async make(): Promise<void> {
    if (this.#isMade) return;
    if (await this.#readFile() === null) {
      const id = await this.#makeRow();
      const path = join(this.root, FILE);
      // Whole or not at all; another process writes the same.
      const unfinished = `${path}.${randomId(this.store)}.tmp`;
      await Deno.writeTextFile(unfinished, `${id}\n`, { mode: 0o600 });
      await Deno.rename(unfinished, path);
    }
    this.#isMade = true;
  }

  async #makeRow(): Promise<string> {
    const { kv } = this.store;
    return await retryWhileLocked(async () => {
      for (;;) {
        const row = await kv.get<MarkRow>(KEY);
        if (row.value !== null) return row.value.id;
        const made: MarkRow = { v: 1, id: randomId(this.store) };
        await kv.atomic().check(row).set(KEY, made).commit();
      }
    });
  }

  async #readRow(): Promise<string | null> {
    const { kv } = this.store;
    return (await retryWhileLocked(() => kv.get<MarkRow>(KEY))).value?.id ?? null;
  }

  async #readFile(): Promise<string | null> {
    try {
      return (await Deno.readTextFile(join(this.root, FILE))).trim();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    }
  }
}
