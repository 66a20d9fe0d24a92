/**
 * Blobs as files in the data folder, where the disk is the relay's own: one file each, its sections
 * one after the other (docs/adr/0037).
 */
import { join } from "node:path";
import { flushFolder } from "../files/flush_folder.ts";
import { ifThere } from "../files/if_there.ts";
import { type BlobBytes, bytesIn, type FoundBytes, joinBytes } from "./blob_bytes.ts";
import {
  type BlobName,
  blobOfFile,
  blobPath,
  isFolderSince,
  lastNameIn,
  UNFINISHED,
} from "./blob_name.ts";
import { readFileAt } from "./blob_reader.ts";
import type { BlobWriter } from "./blob_writer.ts";
import type { StoreMark } from "./store_mark.ts";
import { writeFile } from "./write_files.ts";

/** This user's alone. */
const FOLDER_MODE = 0o700;
/** A folder can vanish between its making and its use: a sweep in another process found it empty. */
const ATTEMPTS = 3;
const BATCH = 100;
/** Bytes up to which the sections of a blob are written together: a write costs more than their copy. */
const JOINED_BYTES = 256 * 1024;
/** Blobs being written from which on the writer is begun: starting it takes longer than to write fewer here. */
const MANY = 3;

export class BlobFiles implements BlobBytes {
  /** The folder that was made last: names go by time, so nearly every blob goes where the last one did. */
  #folder: { path: string; made: Promise<void> } | null = null;
  #underWay = 0;

  /**
   * @param root folder of all blobs; it is made with the first one
   * @param mark says in it whose it is
   * @param writer of small blobs, from when many are written at one time until none were for a while
   */
  constructor(
    private readonly root: string,
    private readonly mark: StoreMark,
    private readonly writer: Pick<BlobWriter, "write" | "isReady">,
  ) {}

  async put(name: BlobName, sections: readonly Uint8Array[]): Promise<void> {
    this.#underWay++;
    try {
      for (let attempt = 1;; attempt++) {
        try {
          return await this.#put(blobPath(name), sections);
        } catch (error) {
          this.#folder = null;
          if (!(error instanceof Deno.errors.NotFound) || attempt === ATTEMPTS) throw error;
        }
      }
    } finally {
      this.#underWay--;
    }
  }

  async #put(
    [outer, inner, file]: ReturnType<typeof blobPath>,
    sections: readonly Uint8Array[],
  ): Promise<void> {
    const folder = join(this.root, outer, inner);
    const path = join(folder, file);
    const temporaryPath = path + UNFINISHED;
    const isSmall = bytesIn(sections) <= JOINED_BYTES;
    const toWrite = () => ({
      path,
      temporaryPath,
      sections: isSmall ? [joinBytes(sections)] : sections,
    });
    try {
      await this.#makeFolder(outer, inner);
      if (isSmall && (this.writer.isReady || this.#underWay >= MANY)) {
        if (await this.writer.write(toWrite())) return;
        await Deno.remove(temporaryPath).catch(() => {}); // what it has left
      }
      await writeFile(toWrite());
      await flushFolder(folder);
    } catch (error) {
      for (const left of [temporaryPath, path]) await Deno.remove(left).catch(() => {});
      throw error;
    }
  }

  /** Makes both folders, and has each of them named durably in the one above it. */
  async #makeFolder(outer: string, inner: string): Promise<void> {
    const path = join(this.root, outer, inner);
    if (this.#folder?.path !== path) {
      const chain = [join(this.root, ".."), this.root, join(this.root, outer), path];
      this.#folder = { path, made: this.#makeAll(chain) };
    }
    await this.#folder.made;
  }

  async #makeAll([above, ...folders]: readonly string[]): Promise<void> {
    for (const folder of folders) {
      await Deno.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      if (folder === this.root) await this.mark.make();
      await flushFolder(above!); // though it was there: who made it may not be done yet
      above = folder;
    }
  }

  async get(
    name: BlobName,
    at: number,
    sizeBytes: number,
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    return await readFileAt(this.#pathOf(name), at, sizeBytes);
  }

  async remove({ name }: FoundBytes): Promise<void> {
    await ifThere(Deno.remove(this.#pathOf(name)));
  }

  async sizeBytesOf(name: BlobName): Promise<number | null> {
    return (await ifThere(Deno.stat(this.#pathOf(name))))?.size ?? null;
  }

  #pathOf(name: BlobName): string {
    return join(this.root, ...blobPath(name));
  }

  /**
   * Unfinished files and empty folders, which no record can name, are deleted on the way. A folder that may
   * be written to stays: who has made it durable would not look again.
   */
  async *found(
    sinceMs: number,
    isClosed: (name: BlobName) => boolean,
  ): AsyncGenerator<readonly FoundBytes[]> {
    const isOver = (folder: string) => isClosed(lastNameIn(folder));
    for (const outer of await foldersIn(this.root)) {
      if (!isFolderSince(sinceMs, outer)) continue;
      for (const inner of await foldersIn(join(this.root, outer))) {
        if (!isFolderSince(sinceMs, outer, inner)) continue;
        yield* foundIn(join(this.root, outer, inner), isClosed);
        if (isOver(outer + inner)) await removeEmpty(join(this.root, outer, inner));
      }
      if (isOver(outer)) await removeEmpty(join(this.root, outer));
    }
  }
}

async function* foundIn(
  folder: string,
  isClosed: (name: BlobName) => boolean,
): AsyncGenerator<readonly FoundBytes[]> {
  let found: FoundBytes[] = [];
  for (const { name: file, isFile } of await entriesOf(folder)) {
    const blob = isFile ? blobOfFile(file) : null;
    if (blob === null || !isClosed(blob.name)) continue;
    if (!blob.isFinished) await ifThere(Deno.remove(join(folder, file)));
    else if (found.push({ name: blob.name, sizeBytes: 0 }) === BATCH) {
      yield found;
      found = [];
    }
  }
  yield found; // though there are none, so that many empty folders hold nobody up
}

/** Entries of a folder, which the runtime reads as a whole; none of one that is not there. */
async function entriesOf(path: string): Promise<Deno.DirEntry[]> {
  return await ifThere(Array.fromAsync(Deno.readDir(path))) ?? [];
}

async function foldersIn(path: string): Promise<string[]> {
  return (await entriesOf(path)).filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
}

/** Removes a folder that holds nothing; the system refuses to remove any other. */
async function removeEmpty(path: string): Promise<void> {
  await Deno.remove(path).catch(() => {});
}
