/**
 * Writes many small files in a worker: those of one folder that wait together are one message, and
 * are flushed together. Each step of a file by itself would hand it to another thread and back.
 */
import { type StartWorker, workerOf } from "../workers/start_worker.ts";
import { WorkerThread, type WorkerThreadServices } from "../workers/worker_thread.ts";
import type { FilesOfFolder, FileToWrite, WriteFailure } from "./write_batch.ts";

/** The worker is not there any more: whether the file was written is not known. */
export class WriterLost extends Error {}

interface WaitingFile {
  folder: string;
  file: FileToWrite;
  end(failure: Error | null): void;
}

const FILES_A_BATCH = 32;
/** Of a batch: a disk that takes longer is waited for by the main thread's own writes. */
const PATIENCE_MS = 30_000;

/**
 * Starts its worker, which may read and write below one folder, and nothing else.
 * @param root of all blobs
 */
export function blobWriterIn(root: string): StartWorker {
  return workerOf(new URL("./blob_writer_program.ts", import.meta.url), {
    name: "blobs",
    permissions: {
      read: [root],
      write: [root],
      env: false,
      ffi: false,
      import: false,
      net: false,
      run: false,
      sys: false,
    },
  });
}

export class BlobWriter {
  readonly #worker: WorkerThread<FilesOfFolder, (WriteFailure | null)[]>;
  #waiting: WaitingFile[] = [];
  #isWriting = false;

  constructor(private readonly services: WorkerThreadServices) {
    this.#worker = new WorkerThread(services);
  }

  /** Whether write() is to be called. */
  get isUsable(): boolean {
    return this.#worker.isUsable;
  }

  /**
   * Writes a file durably.
   * @param file its bytes move away
   * @throws WriterLost, and what the system says
   */
  write(folder: string, file: FileToWrite): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (failure: Error | null) => failure === null ? resolve() : reject(failure);
    this.#waiting.push({ folder, file, end });
    this.#next();
    return promise;
  }

  /** Ends the worker; what waits is lost. */
  close(): void {
    this.#worker.close();
  }

  async #next(): Promise<void> {
    if (this.#isWriting || this.#waiting.length === 0) return;
    const { folder } = this.#waiting[0]!;
    const batch = this.#waiting.filter((one) => one.folder === folder).slice(0, FILES_A_BATCH);
    this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
    this.#isWriting = true;
    const files = batch.map(({ file }) => file);
    const transfer = files.map(({ bytes }) => bytes.buffer);
    const end = await this.#worker.run({ folder, files }, { timeMs: PATIENCE_MS, transfer });
    this.#isWriting = false;
    if (end.type === "result") {
      this.#next();
      for (const [i, { end: tell }] of batch.entries()) {
        const failure = end.result[i]!;
        tell(failure === null ? null : errorOf(failure));
      }
      return;
    }
    // Nobody is kept waiting: who is told so writes by itself.
    const lost = new WriterLost(`the writer was lost: ${end.type}`);
    if (end.type === "timed_out") this.services.onLoss(lost);
    for (const { end: tell } of [...batch, ...this.#waiting.splice(0)]) tell(lost);
  }
}

/** The system's error as this thread would have got it. */
function errorOf({ name, message }: { name: string; message: string }): Error {
  const known = (Deno.errors as Record<string, new (message: string) => Error>)[name];
  if (known !== undefined) return new known(message);
  return Object.assign(new Error(message), { name });
}
