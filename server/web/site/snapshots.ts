import type { FixedContent } from "../../base/http/answers/fixed_content.ts";
import { fixPage } from "../../base/pages/answer_page.ts";
import { KeptResults } from "../../base/bounds/kept_results.ts";

/** How long others wait for one that is being made, too. */
const KEPT_FOR = { maxAgeMs: 1_000, maxMakingMs: 15_000 };

/**
 * Pages as they were made up to a second ago, for everybody who asks: many viewers cost one page a
 * second, and answers of 304 while it stays the same.
 */
export class Snapshots {
  readonly #kept: KeptResults<FixedContent>;

  /** @param capacity pages that are kept */
  constructor(now: () => number, capacity: number) {
    this.#kept = new KeptResults(now, capacity);
  }

  /** The page of a name. @throws what making it throws; it is not kept */
  get(name: string, make: () => Promise<string>): Promise<FixedContent> {
    return this.#kept.get(name, KEPT_FOR, async () => await fixPage(await make()));
  }
}
