/**
 * Says whether the files of blobs belong to this store. A relay that is started with an empty
 * store beside the files of another would sweep them all, before its operator has put the right one
 * back: such files are left alone.
 */
import { join } from "node:path";
import { ifThere } from "../files/if_there.ts";
import { randomId } from "../storage/rows/random_id.ts";
import { defineRow } from "../storage/rows/row_key.ts";
import type { Store } from "../storage/rows/store.ts";
import type { BlobBytes } from "./blob_bytes.ts";
import { blobKey, blobNameOf } from "./blob_rows.ts";
import { writeFile } from "./write_files.ts";

/**
 * ["meta","blob-files"]: made by the first start, so that every copy of the store has it, and its
 * id stands in the mark beside the files too.
 */
interface MarkRow {
  v: 1;
  id: string;
  /**
   * A mark found beside files when this store named none of them. Files that it names later are its own,
   * which says nothing about the others.
   */
  stranger?: string;
}

const KEY = defineRow(["meta", "blob-files"], 0, {
  holds: "the id that `mail/store` has beside the files of this store; another's, beside " +
    "whose files it was started",
})();
const FILE = "store";
/** Blobs of the store that are looked for among the files: one is enough, and most may be gone. */
const BLOBS_LOOKED_FOR = 1_000;

export class StoreMark {
  /** @param root folder of all blobs */
  constructor(private readonly store: Store, private readonly root: string) {}

  /**
   * Whether the files are this store's: they have no mark, or its own, or the store names some of them;
   * then their mark becomes the store's. Makes the row where there is none.
   */
  async isOurs(files: Required<Pick<BlobBytes, "sizeBytesOf">>): Promise<boolean> {
    const beside = await this.#readFile();
    return await this.store.transact(async (transaction) => {
      const { value: row } = await transaction.get<MarkRow>(KEY);
      if (row !== null && (beside ?? row.id) === row.id) return true;
      if (beside !== null && row?.stranger === beside) return false;
      const isOurs = beside === null || await this.#namesSome(files);
      const made = row?.id ?? randomId(this.store);
      const next: MarkRow = isOurs
        ? { v: 1, id: beside ?? made }
        : { v: 1, id: made, stranger: beside };
      transaction.set(KEY, next);
      return isOurs;
    });
  }

  /**
   * Before the first file: makes the mark where there is none, and changes none. Its name is on the disk
   * once the caller has flushed the folder.
   */
  async make(): Promise<void> {
    if (await this.#readFile() !== null) return;
    const { value } = await this.store.get<MarkRow>(KEY);
    const path = join(this.root, FILE);
    // Whole or not at all; another process writes the same.
    const temporaryPath = `${path}.${randomId(this.store)}.tmp`;
    const bytes = new TextEncoder().encode(`${value!.id}\n`);
    await writeFile({ path, temporaryPath, sections: [bytes] });
  }

  async #namesSome(files: Required<Pick<BlobBytes, "sizeBytesOf">>): Promise<boolean> {
    const rows = await this.store.list({ prefix: blobKey.under() }, { limit: BLOBS_LOOKED_FOR });
    for (const { key } of rows) if (await files.sizeBytesOf(blobNameOf(key)) !== null) return true;
    return false;
  }

  /** Null for an empty one, too: a power cut may have left it before marks were flushed. */
  async #readFile(): Promise<string | null> {
    return (await ifThere(Deno.readTextFile(join(this.root, FILE))))?.trim() || null;
  }
}
