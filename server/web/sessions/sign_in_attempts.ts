/**
 * How often a client may try a wrong token: in memory, so that it holds when nothing can be
 * written. The right token is never refused: a stranger behind the same address must not lock the
 * holder out. What a guesser learns by that is whether a guess is right, which the API says as well,
 * without a limit; the token's length is what keeps them from guessing.
 */
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import type { Clock } from "../../base/time/clock.ts";
import { RelayError } from "../../base/errors.ts";
import { admit, type Window } from "../../base/bounds/rate_window.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";

/** Wrong tokens of one client in ten minutes that are answered as such. */
export const ATTEMPTS = { limit: 10, windowMs: 10 * MINUTE_MS };
/** Clients that are remembered; beyond it the one that tried longest ago is forgotten. */
const CLIENTS = 10_000;

export class SignInAttempts {
  readonly #windows = new BoundedMap<string, Window>(CLIENTS);

  /** @param advice what to do instead of guessing on */
  constructor(private readonly now: Clock, private readonly advice: string) {}

  /**
   * Counts an attempt with a wrong token.
   * @param client hash of its address
   * @throws RelayError `rate_limited`
   */
  failed(client: string): void {
    const admitted = admit(this.#windows.get(client) ?? [], this.now(), ATTEMPTS);
    if ("retryAfterMs" in admitted) {
      throw new RelayError(
        "rate_limited",
        `this is not the token, and ${ATTEMPTS.limit} others were not in ${
          ATTEMPTS.windowMs / MINUTE_MS
        } minutes; ${this.advice}`,
        admitted,
      );
    }
    this.#windows.set(client, admitted.window);
  }
}
