/**
 * Bounds how many bytes of request bodies one pool holds at the same time, counted as they
 * arrive. Beyond the bound the slowest bodies are dropped, so that memory stays bounded and fast
 * callers are served. Source: docs/api.md, "Limits".
 */

export interface BodyBounds {
  /** Bytes of all bodies that are being read or answered. */
  totalBytes: number;
  /** Bodies with at most this many bytes so far have a budget of their own, which large ones cannot take. */
  smallBytes: number;
  smallTotalBytes: number;
}

/** A body as the budget sees it. */
export interface BudgetedBody {
  /** When its reading began, by the clock that the budget is given. */
  readonly beganMs: number;
  /** The owner, by whom shares of the budget are counted; asked for at most once. */
  addressOf(): string;
  /** Called at most once, when it has to give way; its bytes are no longer counted. */
  drop(): void;
}

/** When half of a room is used, one address holds at most this part. */
const SHARE_OF_AN_ADDRESS = 1 / 8;
/** The speed of a younger body says nothing yet: it gives way only where no older one can. */
const YOUNG_MS = 1000;
/**
 * What is freed beyond need: looking for the slowest costs a walk over all bodies, which must not
 * come with every piece that an attacker sends.
 */
const SPARE = 1 / 32;

interface Held {
  bytes: number;
  budget: Budget;
  address: string;
  /** A whole body is being answered: it cannot be dropped any more. */
  isWhole: boolean;
}

interface Budget {
  totalBytes: number;
  bytes: number;
  byAddress: Map<string, number>;
}

export class BodyBudget {
  readonly #held = new Map<BudgetedBody, Held>();
  readonly #small: Budget;
  readonly #large: Budget;

  constructor(private readonly now: () => number, private readonly bounds: BodyBounds) {
    this.#small = createBudget(bounds.smallTotalBytes);
    this.#large = createBudget(bounds.totalBytes);
  }

  /** Counts bytes of a body that have come, and drops what has to give way to them: others, or itself. */
  grow(body: BudgetedBody, bytes: number): void {
    let held = this.#held.get(body);
    if (held === undefined) {
      held = { bytes: 0, budget: this.#small, address: body.addressOf(), isWhole: false };
      this.#held.set(body, held);
    }
    if (held.budget === this.#small && held.bytes + bytes > this.bounds.smallBytes) {
      count(held, -held.bytes);
      held.budget = this.#large;
      bytes += held.bytes;
      held.bytes = 0;
    }
    count(held, bytes);
    held.bytes += bytes;
    this.#keepShare(held);
    this.#keepTotal(held);
  }

  /** The body has come to its end. */
  finish(body: BudgetedBody): void {
    const held = this.#held.get(body);
    if (held !== undefined) held.isWhole = true;
  }

  /** The request has its answer; nothing of its body is held any more. Harmless when repeated. */
  release(body: BudgetedBody): void {
    const held = this.#held.get(body);
    if (held === undefined) return;
    this.#held.delete(body);
    count(held, -held.bytes);
  }

  #keepShare({ budget, address, bytes }: Held): void {
    const half = budget.totalBytes / 2;
    const share = budget.totalBytes * SHARE_OF_AN_ADDRESS;
    const holds = () => budget.byAddress.get(address) ?? 0;
    // One body alone is taken, whatever its size: routes bound each.
    if (budget.bytes <= half || holds() <= share || holds() === bytes) return;
    const least = share * (1 - SPARE);
    for (const [body, held] of this.#slowestFirst(budget)) {
      if (held.address !== address) continue;
      this.#drop(body);
      if (budget.bytes <= half || holds() <= least) return;
    }
  }

  #keepTotal({ budget, bytes }: Held): void {
    if (budget.bytes <= budget.totalBytes || budget.bytes === bytes) return;
    const least = budget.totalBytes * (1 - SPARE);
    for (const [body] of this.#slowestFirst(budget)) {
      this.#drop(body);
      if (budget.bytes <= least) return;
    }
  }

  #slowestFirst(budget: Budget): [BudgetedBody, Held][] {
    const nowMs = this.now();
    const ranked: { entry: [BudgetedBody, Held]; isYoung: boolean; bytesPerMs: number }[] = [];
    for (const entry of this.#held) {
      const [{ beganMs }, held] = entry;
      if (held.budget !== budget || held.isWhole) continue;
      const ageMs = nowMs - beganMs;
      const bytesPerMs = held.bytes / Math.max(1, ageMs);
      ranked.push({ entry, isYoung: ageMs < YOUNG_MS, bytesPerMs });
    }
    ranked.sort((a, b) => Number(a.isYoung) - Number(b.isYoung) || a.bytesPerMs - b.bytesPerMs);
    return ranked.map(({ entry }) => entry);
  }

  #drop(body: BudgetedBody): void {
    this.release(body);
    body.drop();
  }
}

function createBudget(totalBytes: number): Budget {
  return { totalBytes, bytes: 0, byAddress: new Map() };
}

function count({ budget, address }: Held, bytes: number): void {
  budget.bytes += bytes;
  const ofAddress = (budget.byAddress.get(address) ?? 0) + bytes;
  if (ofAddress === 0) budget.byAddress.delete(address);
  else budget.byAddress.set(address, ofAddress);
}
