/**
 * Blobs as files in the data folder, where the disk is the relay's own: one file each, its sections
 * one after the other (docs/adr/0037).
 */
import { join } from "node:path";
import { BoundedMap } from "../bounds/bounded_map.ts";
import type { BlobBytes, FoundBytes } from "./blob_bytes.ts";
import type { BlobName } from "./blob_name.ts";
import { type BlobWriter, WriterLost } from "./blob_writer.ts";
import {
  blobOfFile,
  blobPath,
  folderTimeMs,
  INNER_FOLDER_MS,
  OUTER_FOLDER_MS,
  UNFINISHED,
} from "./blob_path.ts";
import { FolderFlushes } from "./folder_flushes.ts";
import type { StoreMark } from "./store_mark.ts";
import { FILE_MODE } from "./write_batch.ts";

/** This user's alone. */
const FOLDER_MODE = 0o700;
/** Folders that are known to outlive a power cut. */
const KNOWN_FOLDERS = 64;
/** A folder can vanish between its making and its use: a sweep in another process found it empty. */
const ATTEMPTS = 3;
const BATCH = 100;
/** Bytes up to which the sections of a blob are written together. */
const JOINED_BYTES = 256 * 1024;
/** The runtime copies what is written before another thread writes it: so many at one time. */
const PIECE_BYTES = 512 * 1024;
/** Blobs being written from which on small ones are left to the writer: fewer are written sooner here. */
const MANY = 3;

export class BlobFiles implements BlobBytes {
  readonly #flushes = new FolderFlushes();
  readonly #known = new BoundedMap<string, true>(KNOWN_FOLDERS);
  #underWay = 0;

  /**
   * @param root folder of all blobs; it is made with the first one
   * @param mark says in it whose it is
   * @param writer of small blobs, where many are written at one time
   */
  constructor(
    private readonly root: string,
    private readonly mark: StoreMark,
    private readonly writer: Pick<BlobWriter, "isUsable" | "write">,
  ) {}

  async put(name: BlobName, sections: readonly Uint8Array[]): Promise<void> {
    this.#underWay++;
    try {
      await this.#put(name, sections);
    } finally {
      this.#underWay--;
    }
  }

  async #put(name: BlobName, sections: readonly Uint8Array[]): Promise<void> {
    const [outer, inner, file] = blobPath(name);
    const folder = join(this.root, outer, inner);
    const path = join(folder, file);
    for (let attempt = 1;; attempt++) {
      try {
        await this.#makeFolder(outer, inner);
        const isSmall = sizeOf(sections) <= JOINED_BYTES;
        if (isSmall && this.#underWay >= MANY && attempt === 1 && this.writer.isUsable) {
          const bytes = joined(sections);
          return await this.writer.write(folder, { path, temporaryPath: path + UNFINISHED, bytes });
        }
        await writeFlushed(path, sections);
        return await this.#flushes.flush(folder);
      } catch (error) {
        await Promise.all(
          [path + UNFINISHED, path].map((left) => Deno.remove(left).catch(() => {})),
        );
        const isToRepeat = isNotFound(error) || error instanceof WriterLost;
        if (!isToRepeat || attempt === ATTEMPTS) throw error;
        this.#known.delete(folder);
      }
    }
  }

  /** Makes both folders, and has each of them named durably in the one above it. */
  async #makeFolder(outer: string, inner: string): Promise<void> {
    const folder = join(this.root, outer, inner);
    if (this.#known.get(folder) === true) return;
    const chain = [join(this.root, ".."), this.root, join(this.root, outer), folder];
    for (let i = 1; i < chain.length; i++) {
      await Deno.mkdir(chain[i]!, { recursive: true, mode: FOLDER_MODE });
      if (chain[i] === this.root) await this.mark.make();
      await this.#flushes.flush(chain[i - 1]!); // though it was there: who made it may not be done yet
    }
    this.#known.set(folder, true);
  }

  async get(
    name: BlobName,
    { at, sizeBytes }: { at: number; sizeBytes: number },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    let file: Deno.FsFile;
    try {
      file = await Deno.open(join(this.root, ...blobPath(name)), { read: true });
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
    try {
      // A record must not have memory taken for bytes that are not there.
      const there = Math.max(0, (await file.stat()).size - at);
      const bytes = new Uint8Array(Math.min(sizeBytes, there));
      if (at > 0) await file.seek(at, Deno.SeekMode.Start);
      let filled = 0;
      while (filled < bytes.length) {
        const read = await file.read(bytes.subarray(filled));
        if (read === null) break;
        filled += read;
      }
      return bytes.subarray(0, filled);
    } finally {
      file.close();
    }
  }

  async remove({ name }: FoundBytes): Promise<void> {
    await removeFile(join(this.root, ...blobPath(name)));
  }

  async sizeBytesOf(name: BlobName): Promise<number | null> {
    try {
      return (await Deno.stat(join(this.root, ...blobPath(name)))).size;
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  /** Unfinished files and empty folders, which no record can name, are deleted on the way. */
  async *found(
    sinceMs: number,
    isClosed: (name: BlobName) => boolean,
  ): AsyncGenerator<readonly FoundBytes[]> {
    for await (const outer of entriesOf(this.root)) {
      const outerMs = outer.isDirectory ? folderTimeMs(outer.name) : null;
      if (outerMs === null || outerMs + OUTER_FOLDER_MS < sinceMs) continue;
      for await (const inner of entriesOf(join(this.root, outer.name))) {
        const innerMs = inner.isDirectory ? folderTimeMs(outer.name, inner.name) : null;
        if (innerMs === null || innerMs + INNER_FOLDER_MS < sinceMs) continue;
        yield* this.#foundIn(join(this.root, outer.name, inner.name), isClosed);
      }
      await removeEmpty(join(this.root, outer.name));
    }
  }

  async *#foundIn(
    folder: string,
    isClosed: (name: BlobName) => boolean,
  ): AsyncGenerator<readonly FoundBytes[]> {
    let batch: FoundBytes[] = [];
    let files = 0;
    for await (const entry of entriesOf(folder)) {
      files++;
      const blob = entry.isFile ? blobOfFile(entry.name) : null;
      if (blob === null || !isClosed(blob.name)) continue;
      if (!blob.isFinished) await removeFile(join(folder, entry.name));
      else if (batch.push({ name: blob.name, sizeBytes: 0 }) >= BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
    if (files > 0) return;
    this.#known.delete(folder);
    await removeEmpty(folder);
    yield []; // a step, so that many empty folders hold nobody up
  }
}

/** Writes under a temporary name, so that a file with a blob's name is whole. */
async function writeFlushed(
  path: string,
  sections: readonly Uint8Array[],
): Promise<void> {
  const file = await Deno.open(path + UNFINISHED, {
    createNew: true,
    write: true,
    mode: FILE_MODE,
  });
  try {
    for (const section of joinSmall(sections)) {
      for (let at = 0; at < section.length;) {
        at += await file.write(section.subarray(at, at + PIECE_BYTES));
      }
    }
    await file.sync();
  } finally {
    file.close();
  }
  await Deno.rename(path + UNFINISHED, path);
}

/** Small sections as one: a write costs more than their copy. */
function joinSmall(sections: readonly Uint8Array[]): readonly Uint8Array[] {
  return sizeOf(sections) > JOINED_BYTES ? sections : [joined(sections)];
}

function sizeOf(sections: readonly Uint8Array[]): number {
  return sections.reduce((sum, { length }) => sum + length, 0);
}

function joined(sections: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(sizeOf(sections));
  let at = 0;
  for (const section of sections) {
    joined.set(section, at);
    at += section.length;
  }
  return joined;
}

/** Entries of a folder; none of one that is not there, or goes meanwhile. */
async function* entriesOf(path: string): AsyncGenerator<Deno.DirEntry> {
  try {
    yield* Deno.readDir(path);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Removes a folder that holds nothing; the system refuses to remove any other. */
async function removeEmpty(path: string): Promise<void> {
  await Deno.remove(path).catch(() => {});
}

function isNotFound(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound;
}
