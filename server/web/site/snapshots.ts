/**
 * Pages as they were made up to a second ago, for everybody who asks: many viewers cost one page a
 * second, and answers of 304 while it stays the same.
 */
import type { FixedContent } from "../../base/http/answers/fixed_content.ts";
import { fixPage } from "../../base/pages/answer_page.ts";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";

const MAX_AGE_MS = 1_000;
/** How long others wait for one that is being made. */
const MAX_MAKING_MS = 15_000;

interface Kept {
  beganMs: number;
  content: Promise<FixedContent>;
  isRunning: boolean;
}

export class Snapshots {
  readonly #kept: BoundedMap<string, Kept>;

  /** @param capacity pages that are kept */
  constructor(private readonly now: () => number, capacity: number) {
    this.#kept = new BoundedMap(capacity);
  }

  /**
   * The page of a name, made again when the one at hand is over a second old. Who asks while it is
   * made waits for it.
   * @throws what making it throws; it is not kept
   */
  get(name: string, make: () => Promise<string>): Promise<FixedContent> {
    const kept = this.#kept.get(name);
    const beganMs = this.now();
    if (kept !== undefined) {
      const ageMs = beganMs - kept.beganMs;
      if (ageMs >= 0 && ageMs < (kept.isRunning ? MAX_MAKING_MS : MAX_AGE_MS)) return kept.content;
    }
    const content = make().then(fixPage);
    const entry: Kept = { beganMs, content, isRunning: true };
    this.#kept.set(name, entry);
    content.then(() => entry.isRunning = false, () => {
      if (this.#kept.get(name) === entry) this.#kept.delete(name);
    });
    return content;
  }
}
