import type { Head } from "./mailbox_kind.ts";

/** Why a wait is over: its time, its client, the relay, or end(). */
export type WaitEnd = "time" | "gone" | "stopped" | "ended";

export interface WaitBounds {
  /** Time of the whole wait, however often it is woken; without one it has no end of its own. */
  waitMs?: number;
  /** Aborts when the client has left. */
  signal?: AbortSignal;
}

/** One that waits for changes of a mailbox, once or again and again. */
export class Waiter<H extends Head> {
  #changed = false;
  #end: WaitEnd | null = null;
  #next: PromiseWithResolvers<"changed" | WaitEnd> | null = null;
  #headRead: H | null = null;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onAbort = () => this.finish("gone");

  /** @param leave called once, when the wait is over */
  constructor(
    private readonly bounds: WaitBounds,
    private readonly leave: (waiter: Waiter<H>) => void,
  ) {
    const { waitMs, signal } = bounds;
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.finish("time"), waitMs);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (signal?.aborted) this.finish("gone");
  }

  /**
   * Resolves when the mailbox may have changed since the last call, or since the wait began, and at
   * the end of the wait. Changes that came before the end are told first, unless the client has gone.
   */
  next(): Promise<"changed" | WaitEnd> {
    if (this.#changed) {
      this.#changed = false;
      return Promise.resolve("changed");
    }
    if (this.#end !== null) return Promise.resolve(this.#end);
    this.#next ??= Promise.withResolvers();
    return this.#next.promise;
  }

  /**
   * The mailbox was read up to this head, null where it has no record: on an exclusive store the
   * ten-second round then wakes for another head only.
   */
  hasRead(head: H | null): void {
    this.#headRead = head;
  }

  get headRead(): H | null {
    return this.#headRead;
  }

  get isOver(): boolean {
    return this.#end !== null;
  }

  /** Gives up the wait, and its place. Later calls do nothing. */
  end(): void {
    this.finish("ended");
  }

  /** For who keeps the waiters: the mailbox may have changed. */
  wake(): void {
    if (this.#end !== null) return;
    if (this.#next === null) this.#changed = true;
    else this.#resolve("changed");
  }

  /** For who keeps the waiters: the wait is over. */
  finish(end: WaitEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    if (end === "gone") this.#changed = false;
    clearTimeout(this.#timer);
    this.bounds.signal?.removeEventListener("abort", this.#onAbort);
    this.leave(this);
    this.#resolve(end);
  }

  #resolve(outcome: "changed" | WaitEnd): void {
    this.#next?.resolve(outcome);
    this.#next = null;
  }
}
