/** Who waits for a message: polls with `wait` register here and are woken when one is committed. */

export interface Waiter {
  agentId: number;
  /** Resolves with the reason: a message, a newer poll, the end of the wait or of the relay. */
  woken: Promise<"message" | "replaced" | "shutdown">;
  /** The poll has read its mailbox up to this message and found nothing to give. */
  hasRead(headId: number): void;
  cancel(): void;
}

interface Waiting {
  wake: (reason: "message" | "replaced" | "shutdown") => void;
  /** Head of the mailbox as the poll has read it; null before. */
  headId: number | null;
}

export class Arrivals {
  readonly #waiting = new Map<number, Waiting>();
  #closed = false;
  #first: () => void = () => {};

  /** Calls back whenever a poll begins to wait while no other does. */
  onFirst(callback: () => void): void {
    this.#first = callback;
  }

  /** Polls that wait now. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Registers the one waiting poll of an agent; an older one is answered at once.
   * @param again true where a poll that was woken for nothing goes on waiting: it gives way to a newer one
   */
  await(agentId: number, again = false): Waiter {
    let wake!: Waiting["wake"];
    const woken = new Promise<"message" | "replaced" | "shutdown">((resolve) => wake = resolve);
    const waiting: Waiting = { wake, headId: null };
    if (this.#closed) wake("shutdown");
    else if (again && this.#waiting.has(agentId)) wake("replaced");
    else {
      this.#waiting.get(agentId)?.wake("replaced");
      this.#waiting.set(agentId, waiting);
      if (this.#waiting.size === 1) this.#first();
    }
    const cancel = () => {
      if (this.#waiting.get(agentId) === waiting) this.#waiting.delete(agentId);
    };
    void woken.then(cancel);
    return { agentId, woken, cancel, hasRead: (headId) => void (waiting.headId = headId) };
  }

  /** Ends the waiting poll of an agent because a newer one was accepted. */
  replace(agentId: number): void {
    this.#waiting.get(agentId)?.wake("replaced");
  }

  /** A message for the agent was committed. */
  announce(agentId: number): void {
    this.#waiting.get(agentId)?.wake("message");
  }

  /** Wakes the waiting poll of an agent unless it has read its mailbox up to this message. */
  announceUnread(agentId: number, headId: number | undefined): void {
    const waiting = this.#waiting.get(agentId);
    if (waiting !== undefined && waiting.headId !== headId) waiting.wake("message");
  }

  /** Agents with a waiting poll. */
  agents(): IterableIterator<number> {
    return this.#waiting.keys();
  }

  /** Answers every waiting poll; later ones do not wait. */
  close(): void {
    this.#closed = true;
    for (const { wake } of [...this.#waiting.values()]) wake("shutdown");
  }
}
