/** What the workers of the index do: one writes its file, one searches in it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { blobReader } from "../../base/blobs/blob_reader.ts";
import { SliceClock } from "../../base/slices/slice_clock.ts";
import { ifThere } from "../../base/files/if_there.ts";
import { makeUlid } from "../../base/storage/rows/ulid.ts";
import { readHead } from "../mailbox/messages/read_head.ts";
import type { Highlights } from "./highlights.ts";
import { type MatchedMessage, matchMessage } from "./match_message.ts";
import type { Term } from "./search_terms.ts";
import { TermMatcher } from "./term_matcher.ts";
import { IndexDamaged, type IndexedMessage, WordIndex } from "./word_index.ts";
import { indexedMessage, type MessageToIndex } from "./words_of.ts";

/** Calls of the index that are handed on as they are. */
type IndexCall =
  | "compare"
  | "list"
  | "begin"
  | "remove"
  | "retain"
  | "settle"
  | "drop"
  | "erase"
  | "find";

export interface IndexJobs extends
  Record<"open", {
    /** @property nowMs names a new file */
    given: [folder: string, isAnew: boolean, nowMs: number];
    /** `made` says what is wrong with the former file; null where it is good, or there was none. */
    result: { file: string; made: string | null };
  }>,
  Record<"read", { given: [inboxId: string, blobs: string, MessageToIndex[]]; result: void }>,
  Record<"match", {
    given: [blobs: string, terms: readonly Term[], MatchedMessage[]];
    /** Undefined for a message whose bytes are damaged. */
    result: (Highlights | null | undefined)[];
  }>,
  Record<"leave", { given: []; result: void }>,
  Record<"give up", { given: [folder: string]; result: void }>,
  Record<"seal", { given: []; result: void }> {}

export type JobKind = IndexCall | keyof IndexJobs;

export type Given<K extends JobKind> = K extends keyof IndexJobs ? IndexJobs[K]["given"]
  : K extends IndexCall ? Parameters<WordIndex[K]>
  : never;
export type Result<K extends JobKind> = K extends keyof IndexJobs ? IndexJobs[K]["result"]
  : K extends IndexCall ? ReturnType<WordIndex[K]>
  : never;

export interface IndexJob {
  kind: JobKind;
  /** Path of the file; null for what opens or removes it. */
  file: string | null;
  given: unknown[];
}

const FILE = ".db";
/** Ends the name of what says how a file was closed. */
const SEAL = ".sha256";
/** Characters of words that are taken together. */
const HELD_CHARACTERS = 2 * 1024 * 1024;
/** What SQLite says where the file itself may be good. */
const PASSES = /is full|unable to open|readonly|is locked|out of memory/;

/** The file of this worker. */
let open: { file: string; index: WordIndex } | null = null;

/**
 * Does a job. The worker that searches does nothing else, and opens the file to read it alone.
 * @throws IndexDamaged for a file that is to be made anew; Error of SQLite for what may pass
 */
export async function doJob({ kind, file, given }: IndexJob): Promise<unknown> {
  try {
    if (kind === "open") return await openFile(...given as Given<"open">);
    if (kind === "leave") return closeFile();
    if (kind === "give up") return await removeBut(...given as Given<"give up">, null);
    if (kind === "match") return await matchAll(...given as Given<"match">);
    const index = indexAt(file!, kind === "find");
    if (kind === "seal") return await sealFile(file!, index);
    if (kind === "read") {
      const [inboxId, folder, messages] = given as Given<"read">;
      const blobs = blobReader(folder);
      let some: IndexedMessage[] = [];
      let held = 0;
      for (const message of messages) {
        const read = await indexedMessage(blobs, message);
        some.push(read);
        held += read.words?.length ?? 0;
        if (held < HELD_CHARACTERS) continue;
        index.add(inboxId, some);
        some = [];
        held = 0;
      }
      return index.add(inboxId, some);
    }
    return (index[kind] as (...given: unknown[]) => unknown)(...given);
  } catch (error) {
    throw asDamage(error);
  }
}

async function matchAll(
  ...[folder, terms, messages]: Given<"match">
): Promise<IndexJobs["match"]["result"]> {
  const blobs = blobReader(folder);
  const matcher = new TermMatcher(terms);
  const slices = new SliceClock(() => 0); // nobody else waits here
  const heads = await Promise.all(
    messages.map(async (message) =>
      message.textSource === "none" ? null : await readHead({ blobs }, message)
    ),
  );
  const matches: IndexJobs["match"]["result"] = [];
  for (const [i, message] of messages.entries()) {
    const head = heads[i]!;
    const isDamaged = head === null && message.textSource !== "none";
    matches.push(
      isDamaged ? undefined : await matchMessage({ blobs, matcher, slices }, message, head),
    );
  }
  return matches;
}

function indexAt(file: string, isReader: boolean): WordIndex {
  if (open?.file !== file) {
    closeFile();
    open = { file, index: new WordIndex(file, { isReader }) };
  }
  return open.index;
}

function closeFile(): void {
  open?.index[Symbol.dispose]();
  open = null;
}

/** The newest file of the folder where it is good, else a new one; the others are removed. */
async function openFile(
  ...[folder, isAnew, nowMs]: Given<"open">
): Promise<IndexJobs["open"]["result"]> {
  closeFile();
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const last = (await namesIn(folder)).filter((name) => name.endsWith(FILE)).sort().at(-1);
  let made = isAnew ? "it was damaged" : null;
  if (last !== undefined && !isAnew) {
    const file = join(folder, last);
    try {
      const seal = await ifThere(Deno.readTextFile(file + SEAL));
      // A file that is written to again is not as it was closed.
      if (seal !== null) await Deno.remove(file + SEAL);
      if (seal !== null && seal !== await hashOf(file)) {
        throw new IndexDamaged("it was changed since it was closed");
      }
      indexAt(file, false).check(seal !== null);
      await removeBut(folder, last);
      return { file, made };
    } catch (error) {
      closeFile();
      const damage = asDamage(error);
      if (!(damage instanceof IndexDamaged)) throw damage;
      made = damage.message;
    }
  }
  const name = makeUlid(nowMs, (size) => crypto.getRandomValues(new Uint8Array(size))) + FILE;
  await removeBut(folder, null); // first, since the disk may be full
  const file = join(folder, name);
  open = { file, index: new WordIndex(file, { isNew: true }) };
  return { file, made };
}

/** Says of a whole file what it holds: the next start need not look at all of it, and sees every turned bit. */
async function sealFile(file: string, index: WordIndex): Promise<void> {
  index.seal();
  closeFile();
  await Deno.writeTextFile(file + SEAL, await hashOf(file));
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  using open = await Deno.open(file);
  const bytes = new Uint8Array(2 ** 20);
  for (let read = await open.read(bytes); read !== null; read = await open.read(bytes)) {
    hash.update(bytes.subarray(0, read));
  }
  return hash.digest("hex");
}

/** Removes what lies in the folder, but for a file with what SQLite keeps beside it. */
async function removeBut(folder: string, kept: string | null): Promise<void> {
  if (kept === null) closeFile();
  for (const name of await namesIn(folder)) {
    if (kept === null || !name.startsWith(kept)) await Deno.remove(join(folder, name));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

function asDamage(error: unknown): unknown {
  const isOfFile = error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR" &&
    !PASSES.test(error.message);
  return isOfFile ? new IndexDamaged(error.message) : error;
}
