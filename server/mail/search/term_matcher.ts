/** Whether the terms of a query stand in the fields of one message, and where. Pure. */
import type { Term } from "./search_terms.ts";
import { fold, tokensOf } from "./tokens.ts";

/** Where a term stands in a text, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/** Tokens between two slices that take() offers. */
const TOKENS_A_SLICE = 256;

/** UTF-16 units; in NFKC they may become eighteen times as many. */
const FOLDED_AT_ONCE = 8 * 1024;

export class TermMatcher {
  /** Terms by their last token: most tokens of a text end none. */
  readonly #byLast = new Map<string, number[]>();
  readonly #longest: number;
  #missing: Set<number>;

  constructor(private readonly terms: readonly Term[]) {
    for (const [i, term] of terms.entries()) {
      const last = term.at(-1)!;
      this.#byLast.set(last, [...this.#byLast.get(last) ?? [], i]);
    }
    this.#longest = Math.max(0, ...terms.map(({ length }) => length));
    this.#missing = new Set(terms.keys());
  }

  /** Begins another message. */
  begin(): void {
    this.#missing = new Set(this.terms.keys());
  }

  /** Whether each term was found in some field since begin(). */
  get hasAll(): boolean {
    return this.#missing.size === 0;
  }

  /**
   * Whether fields may hold all terms: most messages hold not all of their tokens anywhere. Long ones
   * may: folding them would hold up others, and take() lets them run.
   */
  mayHold(fields: readonly string[]): boolean {
    const whole = fields.join("\n");
    if (whole.length > FOLDED_AT_ONCE) return true;
    const folded = fold(whole);
    return this.terms.every((term) => term.every((token) => folded.includes(token)));
  }

  /**
   * Looks for the terms in a field. Yields now and then, so that the caller can let others run.
   * @param enough spans to look for; the rest of a text is left unread once there are so many and no
   * term is missing
   * @returns the first spans, in their order, at most `enough`
   */
  *take(text: string, enough: number): Generator<void, Span[]> {
    const recent: { value: string; start: number }[] = [];
    const spans: Span[] = [];
    let count = 0;
    for (const { value, start, end } of tokensOf(text)) {
      recent[count % this.#longest] = { value, start };
      count++;
      for (const i of this.#byLast.get(value) ?? []) {
        const first = this.#firstOf(this.terms[i]!, recent, count);
        if (first === null) continue;
        this.#missing.delete(i);
        if (spans.length < enough) spans.push({ start: first, end });
      }
      if (this.hasAll && spans.length >= enough) break;
      if (count % TOKENS_A_SLICE === 0) yield;
    }
    return spans;
  }

  /** Where a term begins that ends with the last token; null where another stands before that. */
  #firstOf(
    term: Term,
    recent: readonly { value: string; start: number }[],
    count: number,
  ): number | null {
    if (count < term.length) return null;
    let start = 0;
    for (let back = 1; back <= term.length; back++) {
      const token = recent[(count - back) % this.#longest]!;
      if (token.value !== term.at(-back)) return null;
      start = token.start;
    }
    return start;
  }
}
