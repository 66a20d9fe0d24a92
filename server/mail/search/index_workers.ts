/** The workers of the search index, and the file that they work on. */
import { type StartWorker, workerOf } from "../../base/workers/start_worker.ts";
import { WorkerThread } from "../../base/workers/worker_thread.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import type { Given, IndexJob, JobKind, Result } from "./index_jobs.ts";

export interface IndexWorkersOptions {
  /** Of the index, and of all blobs. */
  folder: string;
  blobs: string;
  now: () => number;
  /** Called with what ends a worker, or fails in it. */
  onLoss: (failure: unknown) => void;
  /** Called with what was wrong with the file, when it is made anew. */
  onMade: (why: string) => void;
  start?: { writer: StartWorker; reader: StartWorker };
}

/** A job that came to nothing: the index is as it was, or there is none for now. */
export class IndexFailed extends Error {}

/** A check of a large file takes as long as reading it. */
const OPEN_MS = 30 * MINUTE_MS;
const WRITE_MS = 5 * MINUTE_MS;
/** Whoever searches waits for it, and reads the messages themselves then. */
const FIND_MS = 2_000;
const SEAL_MS = 1_000;
/** Longer than other workers: the first search after its start waits for that. */
const READER_IDLE_MS = 10 * MINUTE_MS;

/** Workers that may read and write the folder of the index, and read blobs. */
export function startIndexWorkers(folder: string, blobs: string): {
  writer: StartWorker;
  reader: StartWorker;
} {
  const none = { env: false, ffi: false, import: false, net: false, run: false, sys: false };
  const program = new URL("./index_program.ts", import.meta.url);
  const permissions = { read: [folder, blobs], write: [folder], ...none };
  const started = (name: string) => workerOf(program, { name, permissions });
  return { writer: started("search index"), reader: started("search") };
}

export class IndexWorkers {
  readonly #writer: WorkerThread<IndexJob, unknown>;
  readonly #reader: WorkerThread<IndexJob, unknown>;
  #file: string | null = null;
  #isDamaged = false;

  constructor(private readonly options: IndexWorkersOptions) {
    const { folder, blobs, onLoss, start = startIndexWorkers(folder, blobs) } = options;
    this.#writer = new WorkerThread({ start: start.writer, onLoss });
    this.#reader = new WorkerThread({
      start: start.reader,
      onLoss,
      bounds: { idleMs: READER_IDLE_MS },
    });
  }

  /** The file in use; null before it is opened, and after it turned out to be damaged. */
  get file(): string | null {
    return this.#file;
  }

  /** Opens the file, and checks it; makes a new one where there is none, or it is damaged. @throws IndexFailed */
  async open(): Promise<void> {
    const { folder, now, onMade } = this.options;
    const wasDamaged = this.#isDamaged;
    const given: Given<"open"> = [folder, wasDamaged, now()];
    const { file, made } = await this.#run(this.#writer, "open", null, given, OPEN_MS);
    this.#isDamaged = false;
    this.#file = file;
    if (made !== null) onMade(made);
  }

  /** Removes the file, for its room. */
  async giveUp(): Promise<void> {
    this.#file = null;
    // What somebody has open keeps its room. One that does not answer is ended, which closes it too.
    if (this.#reader.isStarted) {
      await this.#run(this.#reader, "leave", null, [], FIND_MS).catch(() => {});
    }
    await this.#run(this.#writer, "give up", null, [this.options.folder], WRITE_MS);
  }

  /** @throws IndexFailed */
  async write<K extends Exclude<JobKind, "find" | "match" | "open" | "leave" | "give up" | "seal">>(
    kind: K,
    ...given: Given<K>
  ): Promise<Result<K>> {
    return await this.#run(this.#writer, kind, this.#require(), given, WRITE_MS);
  }

  /** As WordIndex.find(). @throws IndexFailed */
  async find(...given: Given<"find">): Promise<Result<"find">> {
    return await this.#run(this.#reader, "find", this.#require(), given, FIND_MS);
  }

  /** As the job "match" does it. @throws IndexFailed */
  async match(...given: Given<"match">): Promise<Result<"match">> {
    return await this.#run(this.#reader, "match", this.#require(), given, FIND_MS);
  }

  /** Ends the workers, and what they do; seals the file if that takes no longer than a shutdown may. */
  async close(): Promise<void> {
    this.#reader.close();
    const file = this.#file;
    this.#file = null;
    const late = setTimeout(() => this.#writer.close(), SEAL_MS); // then the next start reads all of it
    if (file !== null) await this.#run(this.#writer, "seal", file, [], WRITE_MS).catch(() => {});
    clearTimeout(late);
    this.#writer.close();
  }

  #require(): string {
    if (this.#file === null) throw new IndexFailed("there is no index");
    return this.#file;
  }

  async #run<K extends JobKind>(
    worker: WorkerThread<IndexJob, unknown>,
    kind: K,
    file: string | null,
    given: unknown[],
    timeMs: number,
  ): Promise<Result<K>> {
    const end = await worker.run({ kind, file, given }, { timeMs });
    if (end.type === "result") return end.result as Result<K>;
    if (end.type === "failed") {
      if (end.reason === "IndexDamaged" && file === this.#file) {
        this.#file = null;
        this.#isDamaged = true;
      }
      this.options.onLoss(new Error(`${kind}: ${end.reason}`));
    }
    throw new IndexFailed(`${kind}: ${end.type}`);
  }
}
