/** How long a job may take: less for owners whose jobs lately took all of their time. Pure. */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";

export interface JobTimeBounds {
  /** Of a job, from when the worker has it. */
  jobMs: number;
  /** The same, of an owner one of whose jobs was ended by it. */
  shortJobMs: number;
  /** How long an owner has the shorter one. */
  shortForMs: number;
}

/** More owners are not remembered: those that were slow first are forgotten. */
const MAX_OWNERS = 10_000;

export class JobTimes {
  /** When an owner was slow last. */
  readonly #slowAtMs = new BoundedMap<string, number>(MAX_OWNERS);

  constructor(private readonly bounds: JobTimeBounds, private readonly now: () => number) {}

  of(owner: string): number {
    const { jobMs, shortJobMs, shortForMs } = this.bounds;
    const slowAtMs = this.#slowAtMs.get(owner);
    if (slowAtMs === undefined) return jobMs;
    if (this.now() - slowAtMs < shortForMs) return shortJobMs;
    this.#slowAtMs.delete(owner);
    return jobMs;
  }

  /** Told of a job whose time was over. */
  tookTooLong(owner: string): void {
    this.#slowAtMs.set(owner, this.now());
  }
}
