/**
 * Writes small files in a worker while many are written: those that wait together are one message, and
 * their folder is flushed once. Each step of a file by itself would hand it to another thread and back.
 * What the worker does not write is its caller's to write.
 */
import { type StartWorker, workerOf } from "../workers/start_worker.ts";
import { WorkerThread, type WorkerThreadServices } from "../workers/worker_thread.ts";
import type { FileToWrite } from "./write_files.ts";

interface WaitingFile {
  file: FileToWrite;
  end(isWritten: boolean): void;
}

const FILES_A_BATCH = 32;
/** Of a batch: a disk that takes longer is waited for by the main thread's own writes. */
const PATIENCE_MS = 30_000;

/**
 * Starts its worker, which may read and write below one folder, and nothing else.
 * @param root of all blobs
 */
export function blobWriterIn(root: string): StartWorker {
  const none = { env: false, ffi: false, import: false, net: false, run: false, sys: false };
  return workerOf(new URL("./blob_writer_program.ts", import.meta.url), {
    name: "blobs",
    permissions: { read: [root], write: [root], ...none },
  });
}

export class BlobWriter {
  readonly #worker: WorkerThread<FileToWrite[], boolean[]>;
  readonly #waiting: WaitingFile[] = [];
  #isWriting = false;

  constructor(private readonly services: WorkerThreadServices) {
    this.#worker = new WorkerThread(services);
  }

  /** Whether its worker is there, and would begin at once. */
  get isReady(): boolean {
    return this.#worker.isReady;
  }

  /**
   * Writes a file durably, if it can.
   * @param file its bytes move away
   * @returns whether it did; what is left of the file otherwise is not known. Never rejects
   */
  write(file: FileToWrite): Promise<boolean> {
    if (!this.#worker.isUsable) return Promise.resolve(false);
    const { promise, resolve: end } = Promise.withResolvers<boolean>();
    this.#waiting.push({ file, end });
    this.#next();
    return promise;
  }

  /** Ends the worker. */
  close(): void {
    this.#worker.close();
  }

  async #next(): Promise<void> {
    if (this.#isWriting || this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, FILES_A_BATCH);
    this.#isWriting = true;
    const files = batch.map(({ file }) => file);
    const buffers = files.flatMap(({ sections }) => sections.map(({ buffer }) => buffer));
    const transfer = buffers as ArrayBuffer[];
    const end = await this.#worker.run(files, { timeMs: PATIENCE_MS, transfer });
    this.#isWriting = false;
    if (end.type === "timed_out") this.services.onLoss(new Error("the writer took too long"));
    const written = end.type === "result" ? end.result : [];
    for (const [i, one] of batch.entries()) one.end(written[i] === true);
    if (end.type === "result" || end.type === "failed") return this.#next();
    // Nobody is kept waiting for a worker that has gone.
    for (const one of this.#waiting.splice(0)) one.end(false);
  }
}
