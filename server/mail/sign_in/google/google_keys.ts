/**
 * The public keys under which Google signs, fetched and kept by the injected clock. Made-up key
 * ids, however many, cause one fetch in 30 seconds; one fetch serves all who wait.
 */
import { importJWK } from "jose";
import type { Clock } from "../../../base/time/clock.ts";
import { RelayError } from "../../../base/errors.ts";
import { HOUR_MS } from "../../../base/time/time_units.ts";

/** So long keys are used without asking again; Google announces new ones hours before their use. */
const FRESH_MS = HOUR_MS;
/** An unknown key id has the keys fetched again, this long after the last fetch at the earliest. */
const PAUSE_MS = 30_000;
/** The same after a fetch that failed. */
const FAILURE_PAUSE_MS = 5_000;
const TIME_LIMIT_MS = 5_000;
/** Google's is under 2 KiB. */
const SIZE_LIMIT_BYTES = 64 * 1024;
/** RFC 7518, section 3.3: a key of 2,048 bits or larger. */
const MIN_MODULUS_BITS = 2048;

export interface GoogleKeysOptions {
  /** Address of the JWK set (RFC 7517, section 5). */
  url: string;
  fetch: typeof fetch;
  now: Clock;
  /** Milliseconds for the whole of a fetch; 5,000 when absent. */
  timeLimitMs?: number;
}

export class GoogleKeys {
  #keys: ReadonlyMap<string, CryptoKey> = new Map();
  #fetchedAtMs: number | null = null;
  #askedAtMs: number | null = null;
  /** Why the last fetch failed. */
  #failure: { error: unknown } | null = null;
  #asking: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(private readonly options: GoogleKeysOptions) {}

  /**
   * The RS256 key of a key id; null where Google has none of this id.
   * @throws RelayError `internal` where that cannot be found out: the token may be a good one
   */
  async find(keyId: string): Promise<CryptoKey | null> {
    const known = this.#isFresh() ? this.#keys.get(keyId) : undefined;
    if (known !== undefined) return known;
    if (this.#asking !== null || this.#mayAsk()) {
      await (this.#asking ??= this.#ask().finally(() => this.#asking = null));
    }
    if (this.#failure !== null || !this.#isFresh()) throw this.#unavailable();
    return this.#keys.get(keyId) ?? null;
  }

  /** Ends a fetch under way; those who wait for it are refused. */
  close(): void {
    this.#closing.abort();
  }

  #isFresh(): boolean {
    return this.#fetchedAtMs !== null && this.#isWithin(this.#fetchedAtMs, FRESH_MS);
  }

  #mayAsk(): boolean {
    const pauseMs = this.#failure === null && this.#isFresh() ? PAUSE_MS : FAILURE_PAUSE_MS;
    return this.#askedAtMs === null || !this.#isWithin(this.#askedAtMs, pauseMs);
  }

  /** False too once the clock has gone back: nothing is then known of the time between. */
  #isWithin(sinceMs: number, lengthMs: number): boolean {
    const elapsedMs = this.options.now() - sinceMs;
    return elapsedMs >= 0 && elapsedMs < lengthMs;
  }

  async #ask(): Promise<void> {
    this.#askedAtMs = this.options.now();
    try {
      this.#keys = await this.#fetchKeys();
      this.#fetchedAtMs = this.#askedAtMs;
      this.#failure = null;
    } catch (error) {
      // fetch() says only that it failed, and its cause says why.
      const cause = error instanceof TypeError ? error.cause : undefined;
      this.#failure = { error: cause ?? error };
    }
  }

  async #fetchKeys(): Promise<Map<string, CryptoKey>> {
    const { url, fetch, timeLimitMs = TIME_LIMIT_MS } = this.options;
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new Error(`the keys did not come within ${timeLimitMs} ms`)),
      timeLimitMs,
    );
    try {
      const answer = await fetch(url, {
        headers: { Accept: "application/json" },
        redirect: "error", // the start permits one host
        signal: AbortSignal.any([late.signal, this.#closing.signal]),
      });
      if (answer.status !== 200) {
        await answer.body?.cancel();
        throw new Error(`the keys' address answered ${answer.status}`);
      }
      return await readKeys(await readBounded(answer));
    } finally {
      clearTimeout(timer);
    }
  }

  #unavailable(): RelayError {
    return new RelayError(
      "internal",
      "the keys of Google could not be fetched, so nobody knows whether the id_token is good; try again in some seconds",
      { cause: this.#failure?.error },
    );
  }
}

async function readBounded(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let cameBytes = 0;
  for await (const piece of answer.body ?? []) {
    cameBytes += piece.byteLength;
    // Leaving the loop cancels the rest.
    if (cameBytes > SIZE_LIMIT_BYTES) {
      throw new Error(`the keys are larger than ${SIZE_LIMIT_BYTES} bytes`);
    }
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The usable keys of a JWK set; what is of another kind is left out. @throws Error where none is usable */
async function readKeys(text: string): Promise<Map<string, CryptoKey>> {
  const set: unknown = JSON.parse(text);
  const members = typeof set === "object" && set !== null && "keys" in set ? set.keys : null;
  if (!Array.isArray(members)) throw new Error("the keys' address gave no JWK set");
  const keys = new Map<string, CryptoKey>();
  for (const member of members) {
    const key = await readKey(member);
    if (key !== null) keys.set(member.kid, key);
  }
  if (keys.size === 0) throw new Error("the JWK set has no key for RS256");
  return keys;
}

/** An RSA key for signatures (RFC 7517, section 4; RFC 7518, section 6.3.1); null for anything else. */
async function readKey(member: unknown): Promise<CryptoKey | null> {
  if (typeof member !== "object" || member === null) return null;
  const { kty, kid, use = "sig", alg = "RS256", n, e } = member as Record<string, unknown>;
  const isUsable = kty === "RSA" && typeof kid === "string" && use === "sig" && alg === "RS256" &&
    typeof n === "string" && typeof e === "string";
  if (!isUsable) return null;
  try {
    // Nothing else of the member: with a private part it would become a key that signs.
    const key = await importJWK({ kty, n, e }, "RS256") as CryptoKey;
    const { modulusLength } = key.algorithm as RsaHashedKeyAlgorithm;
    return modulusLength >= MIN_MODULUS_BITS ? key : null;
  } catch {
    return null;
  }
}
