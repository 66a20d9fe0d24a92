import type { ErrorCode } from "../../errors.ts";

/** How often each code was answered since this process began; for the operator. */
export class RefusalCounts {
  readonly #counts = new Map<ErrorCode, number>();

  add(code: ErrorCode): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
  }

  /** Most frequent first. */
  list(): { code: ErrorCode; count: number }[] {
    return [...this.#counts].map(([code, count]) => ({ code, count }))
      .sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
  }
}
