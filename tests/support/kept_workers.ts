/**
 * Workers that outlive the relay that started them, in an isolate of tests: each loads and compiles its
 * modules anew, which takes more CPU time than most tests that want one. A worker that is ended with
 * a job in it is ended indeed, as is one that has failed.
 */

/** Those without rights, which keep nothing of a job. */
const KEPT_NAMES: ReadonlySet<string> = new Set(["mail", "captured mail"]);
/** Of one program: relays of one test run side by side. */
const MAX_IDLE = 4;
/** So long one waits for the next relay: a program that is no test would not end before. */
const IDLE_MS = 2_000;
/** An older runtime looks for what a test leaves behind, and takes a kept worker for it. */
export const looksForLeaks = Deno.version.deno.startsWith("2.5.");

/** What base/workers/worker_thread.ts exchanges with any worker, as far as it matters here. */
type Posted = { id?: number } | string;

class KeptWorker {
  onmessage: ((event: MessageEvent) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  onmessageerror: ((event: MessageEvent) => void) | null = null;
  readonly #idle: Running[];
  readonly #running: Running;

  constructor(program: URL | string, options: WorkerOptions) {
    const of = `${options.name} ${program}`;
    this.#idle = IDLE.get(of) ?? [];
    IDLE.set(of, this.#idle);
    this.#running = this.#idle.pop() ?? new Running(program, options);
    clearTimeout(this.#running.timer);
    this.#running.holder = this;
    // The worker itself has said so to whom it was started for.
    if (this.#running.isReady) queueMicrotask(() => this.#tellReady());
  }

  postMessage(message: Posted, transfer: Transferable[]): void {
    if (this.#running.holder === this) this.#running.post(message, transfer);
  }

  terminate(): void {
    if (this.#running.holder !== this) return;
    this.#running.holder = null;
    if (!this.#running.isDone || this.#idle.length === MAX_IDLE) return this.#running.end();
    this.#idle.push(this.#running);
    this.#running.timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(this.#running), 1);
      this.#running.end();
    }, IDLE_MS);
    Deno.unrefTimer(this.#running.timer);
  }

  #tellReady(): void {
    if (this.#running.holder === this) {
      this.onmessage?.(new MessageEvent("message", { data: "ready" }));
    }
  }
}

class Running {
  readonly #worker: Worker;
  timer: ReturnType<typeof setTimeout> | undefined;
  holder: KeptWorker | null = null;
  isReady = false;
  readonly #jobs = new Set<number>();
  #hasFailed = false;

  constructor(program: URL | string, options: WorkerOptions) {
    this.#worker = new RuntimeWorker(program, options);
    this.#worker.onmessage = (event: MessageEvent<Posted>) => {
      const { data } = event;
      if (data === "ready") this.isReady = true;
      else if (typeof data === "object" && ("result" in data || "failed" in data)) {
        this.#jobs.delete(data.id!);
      }
      this.holder?.onmessage?.(event);
    };
    this.#worker.onerror = (event) => {
      this.#hasFailed = true;
      event.preventDefault();
      this.holder?.onerror?.(event);
    };
    this.#worker.onmessageerror = (event) => {
      this.#hasFailed = true;
      this.holder?.onmessageerror?.(event);
    };
  }

  /** Whether it takes another's jobs. */
  get isDone(): boolean {
    return this.#jobs.size === 0 && !this.#hasFailed;
  }

  post(message: Posted, transfer: Transferable[]): void {
    this.#worker.postMessage(message, transfer);
    if (typeof message === "object" && message.id !== undefined) this.#jobs.add(message.id);
  }

  end(): void {
    this.#worker.terminate();
  }
}

const RuntimeWorker = globalThis.Worker;
const IDLE = new Map<string, Running[]>();

/** Has the workers of relays in this isolate kept from now on. */
export function keepWorkers(): void {
  if (looksForLeaks) return;
  globalThis.Worker = new Proxy(RuntimeWorker, {
    construct: (_, [program, options]: [URL | string, WorkerOptions]) =>
      KEPT_NAMES.has(options.name ?? "")
        ? new KeptWorker(program, options)
        : new RuntimeWorker(program, options),
  });
}
