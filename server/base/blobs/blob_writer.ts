/**
 * Writes many small files in a worker: those of one folder that wait together are one message, and
 * are flushed together. Each step of a file by itself would hand it to another thread and back.
 */
import type { WriterMessage } from "./blob_writer_program.ts";
import type { RunningBlobWriter, StartBlobWriter } from "./start_blob_writer.ts";
import type { FileToWrite } from "./write_batch.ts";

export interface BlobWriterOptions {
  start: StartBlobWriter;
  /** Told when the worker could not be started, or died. */
  onLoss: (failure: unknown) => void;
  /** Calls back once, unless cancelled by the function it returns. */
  after?: (delayMs: number, callback: () => void) => () => void;
}

/** The worker is not there any more: whether the file was written is not known. */
export class WriterLost extends Error {}

interface WaitingFile {
  folder: string;
  file: FileToWrite;
  end(failure: Error | null): void;
}

const FILES_A_BATCH = 32;
/** Of a batch, and of a start: a disk that takes longer is waited for by the main thread's own writes. */
const PATIENCE_MS = 30_000;
const IDLE_MS = 60_000;
/** Starts that fail in a row until no more are tried. */
const STARTS = 3;

export class BlobWriter {
  readonly #after: NonNullable<BlobWriterOptions["after"]>;
  #waiting: WaitingFile[] = [];
  #underWay: WaitingFile[] = [];
  #worker: RunningBlobWriter | null = null;
  #isReady = false;
  #failedStarts = 0;
  #isClosed = false;
  #cancelTimer: () => void = () => {};

  constructor(private readonly options: BlobWriterOptions) {
    this.#after = options.after ?? startTimer;
  }

  /** Whether write() is to be called. */
  get isUsable(): boolean {
    return !this.#isClosed && this.#failedStarts < STARTS;
  }

  /**
   * Writes a file durably.
   * @param file its bytes move away
   * @throws WriterLost, and what the system says
   */
  write(folder: string, file: FileToWrite): Promise<void> {
    if (!this.isUsable) return Promise.reject(new WriterLost("no writer is running"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (failure: Error | null) => failure === null ? resolve() : reject(failure);
    this.#waiting.push({ folder, file, end });
    this.#next();
    return promise;
  }

  /** Ends the worker; what waits is lost. */
  close(): void {
    this.#isClosed = true;
    this.#drop(new WriterLost("the writer is closed"));
  }

  #next(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    if (this.#worker === null) return this.#start();
    if (!this.#isReady) return;
    const { folder } = this.#waiting[0]!;
    const batch = this.#waiting.filter((one) => one.folder === folder).slice(0, FILES_A_BATCH);
    this.#waiting = this.#waiting.filter((one) => !batch.includes(one));
    this.#underWay = batch;
    this.#patience("the blob writer took too long");
    this.#worker.post({ folder, files: batch.map(({ file }) => file) });
  }

  #start(): void {
    let worker: RunningBlobWriter | null = null;
    const isCurrent = () => worker !== null && this.#worker === worker;
    try {
      worker = this.options.start({
        message: (message) => isCurrent() && this.#take(message),
        died: (failure) => isCurrent() && this.#lose(failure),
      });
    } catch (error) {
      return this.#lose(error);
    }
    this.#worker = worker;
    this.#patience("the blob writer did not start in time");
  }

  #take(message: WriterMessage): void {
    this.#cancelTimer();
    if (message === "ready") {
      this.#isReady = true;
      this.#failedStarts = 0;
    } else {
      const ended = this.#underWay.splice(0);
      for (const [i, { end }] of ended.entries()) {
        const failure = message[i]!;
        end(failure === null ? null : errorOf(failure));
      }
    }
    this.#next();
    if (this.#underWay.length > 0) return;
    this.#cancelTimer = this.#after(IDLE_MS, () => this.#drop(new WriterLost("idle")));
  }

  #patience(message: string): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#after(PATIENCE_MS, () => this.#lose(new Error(message)));
  }

  #lose(failure: unknown): void {
    if (!this.#isReady) this.#failedStarts++;
    this.options.onLoss(failure);
    this.#drop(new WriterLost("the writer was lost"));
  }

  /** Nobody is kept waiting: who is told so writes by itself. */
  #drop(told: WriterLost): void {
    this.#cancelTimer();
    this.#worker?.terminate();
    this.#worker = null;
    this.#isReady = false;
    for (const { end } of [...this.#underWay.splice(0), ...this.#waiting.splice(0)]) end(told);
  }
}

/** The system's error as this thread would have got it. */
function errorOf({ name, message }: { name: string; message: string }): Error {
  const known = (Deno.errors as Record<string, new (message: string) => Error>)[name];
  if (known !== undefined) return new known(message);
  return Object.assign(new Error(message), { name });
}

function startTimer(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
