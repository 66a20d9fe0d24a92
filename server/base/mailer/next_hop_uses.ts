/**
 * Who may use the connections of the next hop: each use has some of its own, however long the others hold
 * theirs. Pure except for the waiting.
 */
import { WaitQueue } from "../bounds/wait_queue.ts";

/** What a mail is, for its share of the connections. */
export type NextHopUse = "link" | "notice" | "mail";

/** With fewer connections nothing is kept for anybody. */
const LEAST_SHARED = 3;
/** Kept for sign-in links: somebody waits for these. They take what else is free, but the last of no other use. */
const FOR_LINKS = 1;

/** Connections that notices may use, digests included. */
export function forNotices(connections: number): number {
  return Math.max(1, Math.floor(connections / 4));
}

/** Connections that mail of inboxes may use: what is not kept for links and notices. */
export function forMail(connections: number): number {
  return connections - FOR_LINKS - forNotices(connections);
}

/** @param used how many connections are used, by what */
export function mayUse(
  use: NextHopUse,
  used: Readonly<Record<NextHopUse, number>>,
  connections: number,
): boolean {
  const free = connections - used.link - used.notice - used.mail;
  if (free <= 0) return false;
  if (connections < LEAST_SHARED) return true;
  if (use === "link") {
    const others = [used.notice, used.mail].filter((count) => count === 0).length;
    return used.link < FOR_LINKS || free > others;
  }
  if (free === 1 && used.link === 0) return false;
  return used[use] < (use === "mail" ? forMail(connections) : forNotices(connections));
}

/**
 * Makes each wait until it may use a connection; among those who may, the longest waiting comes first. No
 * Semaphore: who may depends on what the others hold.
 */
export class NextHopUses {
  readonly #used: Record<NextHopUse, number> = { link: 0, notice: 0, mail: 0 };
  readonly #queue = new WaitQueue<true, NextHopUse>();

  constructor(private readonly connections: number) {}

  /** @returns false when the signal aborted before */
  async take(use: NextHopUse, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return this.#admits(use) || await this.#queue.wait(signal, use) !== null;
  }

  giveBack(use: NextHopUse): void {
    this.#used[use]--;
    while (this.#queue.give(true, this.#admits));
  }

  readonly #admits = (use: NextHopUse): boolean => {
    if (!mayUse(use, this.#used, this.connections)) return false;
    this.#used[use]++;
    return true;
  };
}
