/**
 * Who may use the connections of the next hop. Mail of inboxes leaves two of them to notices, notices leave
 * half of them to mail, and all leave one to sign-in links: somebody waits for these.
 */

/** What a mail is, for its share of the connections. */
export type NextHopUse = "link" | "notice" | "mail";

/** Connections that mail of inboxes leaves to the others. */
export const FOR_NOTICES = 2;
/** With fewer connections nothing is kept for anybody. */
const LEAST_SHARED = 3;

/** @param used how many connections are used, by what */
export function mayUse(
  use: NextHopUse,
  used: Readonly<Record<NextHopUse, number>>,
  connections: number,
): boolean {
  const free = connections - used.link - used.notice - used.mail;
  if (free <= 0) return false;
  if (use === "link" || connections < LEAST_SHARED) return true;
  if (free === 1 && used.link === 0) return false;
  return use === "mail"
    ? used.mail < connections - FOR_NOTICES
    : used.notice < Math.floor(connections / 2);
}

/** Has each wait until it may use a connection; who waits longest comes first among those who may. */
export class NextHopUses {
  readonly #used: Record<NextHopUse, number> = { link: 0, notice: 0, mail: 0 };
  readonly #waiting = new Set<{ use: NextHopUse; admit: () => void }>();

  constructor(private readonly connections: number) {}

  /** @returns false when the signal aborted before */
  async take(use: NextHopUse, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (mayUse(use, this.#used, this.connections)) {
      this.#used[use]++;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const one = { use, admit: () => resolve(true) };
    // Who was admitted meanwhile has it, and gives it back.
    const onAbort = () => this.#waiting.delete(one) && resolve(false);
    this.#waiting.add(one);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  giveBack(use: NextHopUse): void {
    this.#used[use]--;
    for (const one of this.#waiting) {
      if (!mayUse(one.use, this.#used, this.connections)) continue;
      this.#waiting.delete(one);
      this.#used[one.use]++;
      one.admit();
    }
  }
}
