/**
 * A queue of jobs whose owners take turns, and how much of it each may have. Pure.
 *
 * Turns are counted in rounds. Each owner has one turn a round; a new owner's comes in the
 * current round, ahead of those who have had theirs.
 */

export interface QueuedJob {
  /** Whose turn it takes. */
  owner: string;
  sizeBytes: number;
}

export interface FairQueueBounds {
  /** Jobs in the queue and under way, and their bytes. An owner without any is taken up to twice as much. */
  jobs: number;
  bytes: number;
  /** The same for one owner; one job alone may have more bytes. */
  ownerJobs: number;
  ownerBytes: number;
}

interface Held {
  jobs: number;
  bytes: number;
}

export class FairQueue<J extends QueuedJob> {
  /** By owner, in order of arrival. */
  readonly #waiting = new Map<string, { round: number; jobs: J[] }>();
  /** The next round of owners who have had their turn in the current one. */
  readonly #nextRounds = new Map<string, number>();
  #round = 0;
  readonly #held = new Map<string, Held>();
  readonly #all: Held = { jobs: 0, bytes: 0 };

  constructor(private readonly bounds: FairQueueBounds) {}

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** @returns false where there is no room for it */
  add(job: J): boolean {
    const { owner, sizeBytes } = job;
    const held = this.#held.get(owner);
    if (!this.#hasRoom(held, sizeBytes)) return false;
    this.#held.set(owner, count(held ?? { jobs: 0, bytes: 0 }, 1, sizeBytes));
    count(this.#all, 1, sizeBytes);
    this.#wait(owner, [...this.#waiting.get(owner)?.jobs ?? [], job]);
    return true;
  }

  /** The next job; it holds its room until it is given back. */
  take(): J | undefined {
    let next: [owner: string, { round: number; jobs: J[] }] | undefined;
    for (const entry of this.#waiting) {
      if (next === undefined || entry[1].round < next[1].round) next = entry;
    }
    if (next === undefined) return undefined;
    const [owner, { round, jobs: [job, ...others] }] = next;
    if (round > this.#round) this.#nextRounds.clear(); // nobody has had a turn in a later one
    this.#round = round;
    this.#nextRounds.set(owner, round + 1);
    this.#waiting.delete(owner);
    if (others.length > 0) this.#wait(owner, others);
    else if (this.isEmpty) this.#forgetAbsent();
    return job;
  }

  giveBack({ owner, sizeBytes }: J): void {
    count(this.#all, -1, -sizeBytes);
    const held = this.#held.get(owner)!;
    if (count(held, -1, -sizeBytes).jobs === 0) this.#held.delete(owner);
  }

  #wait(owner: string, jobs: J[]): void {
    const known = this.#waiting.get(owner);
    if (known !== undefined) known.jobs = jobs;
    else this.#waiting.set(owner, { round: this.#nextRounds.get(owner) ?? this.#round, jobs });
  }

  /** Once nobody waits, only turns of owners with jobs under way still count. */
  #forgetAbsent(): void {
    for (const owner of this.#nextRounds.keys()) {
      if (!this.#held.has(owner)) this.#nextRounds.delete(owner);
    }
  }

  #hasRoom(held: Held | undefined, sizeBytes: number): boolean {
    const { jobs, bytes, ownerJobs, ownerBytes } = this.bounds;
    const all = this.#all;
    const times = held === undefined ? 2 : 1;
    if (all.jobs >= times * jobs) return false;
    if (all.jobs > 0 && all.bytes + sizeBytes > times * bytes) return false;
    return held === undefined ||
      (held.jobs < ownerJobs && held.bytes + sizeBytes <= ownerBytes);
  }
}

function count(held: Held, jobs: number, bytes: number): Held {
  held.jobs += jobs;
  held.bytes += bytes;
  return held;
}
