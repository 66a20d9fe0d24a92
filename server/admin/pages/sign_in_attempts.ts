/** How often a client may try to sign in: in memory, so that it holds when nothing can be written. */
import type { Clock } from "../../deps.ts";
import { RelayError } from "../../errors.ts";
import { admit, type Window } from "../../rate_window.ts";
import { MINUTE_MS } from "../../time_units.ts";

/** Refused attempts of one client in ten minutes. */
export const ATTEMPTS = { limit: 10, windowMs: 10 * MINUTE_MS };
/** Clients that are remembered; beyond it the one that began first is forgotten. */
const CLIENTS = 10_000;

export class SignInAttempts {
  readonly #windows = new Map<string, Window>();

  constructor(private readonly now: Clock) {}

  /**
   * Counts an attempt before its token is looked at, so that none are tried at one time.
   * @param client hash of its address
   * @throws RelayError `rate_limited`
   */
  begin(client: string): void {
    const admitted = admit(this.#windows.get(client) ?? [], this.now(), ATTEMPTS);
    if ("retryAfterMs" in admitted) {
      throw new RelayError(
        "rate_limited",
        `${ATTEMPTS.limit} attempts to sign in failed in ${
          ATTEMPTS.windowMs / MINUTE_MS
        } minutes; wait, then use the value of RELAY_ADMIN_TOKEN`,
        admitted,
      );
    }
    this.#windows.set(client, admitted.window);
    if (this.#windows.size > CLIENTS) this.#windows.delete(this.#windows.keys().next().value!);
  }

  /** It was the token: the client's attempts are forgotten. */
  succeeded(client: string): void {
    this.#windows.delete(client);
  }
}
