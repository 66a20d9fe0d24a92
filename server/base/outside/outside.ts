/** Posts to addresses that strangers chose, so that nothing of the relay's own network can be reached. */
import { isIP } from "node:net";
import type { Clock } from "../time/clock.ts";
import { VERSION } from "../version.ts";
import { exchange } from "./exchange.ts";
import { type Connect, openConnection } from "./open_connection.ts";
import { type OutsideError, OutsideFailure } from "./outside_failure.ts";
import { hostOf, isLoopbackHost, requireOutsideUrl, type UrlRules } from "./outside_url.ts";
import { isLoopbackAddress, isPublicAddress } from "./public_address.ts";
import type { ResolveHost } from "./resolve_host.ts";
import { readRetryAfter } from "./retry_after.ts";

export type { OutsideError } from "./outside_failure.ts";

export interface OutsideRequest {
  /** As requireUrl() gave it; it is judged again. */
  url: string;
  /** Names in lowercase; `host`, `connection`, `content-length` and `user-agent` come by themselves. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** Ends it early, as a shutdown does. */
  signal: AbortSignal;
}

/** Delivered is what has a status of 200 to 299 and no error. */
export interface OutsideAnswer {
  /** As it came, also beside an error; null where no answer began. */
  status: number | null;
  error: OutsideError | null;
  /** Its first 1,024 bytes. */
  body: Uint8Array<ArrayBuffer>;
  /** How long it asks to wait, at most 24 h. */
  retryAfterMs: number | null;
  durationMs: number;
}

export interface OutsideOptions extends UrlRules {
  /** Why nothing is posted from this process, for start-up; null where it is. */
  refusal: string | null;
  resolve: ResolveHost;
  /** Wall time, unix ms. */
  now: Clock;
  /** For all phases together. */
  limitMs?: number;
  /** Which addresses may be connected to. */
  isAllowed?: (address: string) => boolean;
  connect?: Connect;
}

/** From the question to DNS to the last byte of the answer. */
const LIMIT_MS = 15_000;
const USER_AGENT = `agent-relay/${VERSION}`;
const NO_BYTES = new Uint8Array(0);

export class Outside {
  readonly refusal: string | null;
  readonly #options: OutsideOptions;
  readonly #isAllowed: (address: string) => boolean;

  constructor(options: OutsideOptions) {
    this.#options = options;
    this.refusal = options.refusal;
    this.#isAllowed = options.isAllowed ??
      ((address) =>
        options.allowLoopback && isLoopbackAddress(address) ||
        !options.local && isPublicAddress(address));
  }

  /**
   * A URL that may be posted to, by what it says of itself.
   * @throws RelayError `invalid_json` naming what is allowed
   */
  requireUrl(text: string): URL {
    return requireOutsideUrl(text, this.#options);
  }

  /**
   * Posts a body once: no redirect is followed, no connection used again, no proxy asked.
   *
   * @throws request.signal.reason when it is aborted: nobody knows what the other side took
   * @throws Error where `refusal` says that nothing is posted
   */
  async post(request: OutsideRequest): Promise<OutsideAnswer> {
    if (this.refusal !== null) throw new Error(this.refusal);
    request.signal.throwIfAborted();
    const beganMs = performance.now();
    const limitMs = this.#options.limitMs ?? LIMIT_MS;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new OutsideFailure("timeout")), limitMs);
    const end = () => late.abort(request.signal.reason);
    request.signal.addEventListener("abort", end, { once: true });
    const leftMs = () => limitMs - (performance.now() - beganMs);
    try {
      return await this.#answer(request, late.signal, leftMs, beganMs);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", end);
    }
  }

  async #answer(
    request: OutsideRequest,
    signal: AbortSignal,
    leftMs: () => number,
    beganMs: number,
  ): Promise<OutsideAnswer> {
    const durationMs = () => Math.round(performance.now() - beganMs);
    try {
      const given = await this.#exchange(request, signal, leftMs);
      const isRedirect = given.status >= 300 && given.status <= 399;
      return {
        status: given.status,
        error: !given.isWhole ? "timeout" : isRedirect ? "redirect" : null,
        body: given.body,
        retryAfterMs: readRetryAfter(given.retryAfter, this.#options.now()),
        durationMs: durationMs(),
      };
    } catch (failure) {
      request.signal.throwIfAborted();
      if (!(failure instanceof OutsideFailure)) throw failure;
      const { code } = failure;
      return {
        status: null,
        error: code,
        body: NO_BYTES,
        retryAfterMs: null,
        durationMs: durationMs(),
      };
    }
  }

  async #exchange(request: OutsideRequest, signal: AbortSignal, leftMs: () => number) {
    const url = this.#judgedUrl(request.url);
    const host = hostOf(url);
    const addresses = await this.#judgedAddresses(host, signal);
    const isTls = url.protocol === "https:";
    const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port);
    const rules = { isAllowed: this.#isAllowed, leftMs, connect: this.#options.connect };
    const target = { addresses, port, tlsHost: isTls ? host : null };
    const socket = await openConnection(target, rules, signal);
    const headers = { ...request.headers, "user-agent": USER_AGENT };
    return await exchange(socket, { url, headers, body: request.body }, signal);
  }

  /** Settings may have changed since the URL was taken. */
  #judgedUrl(text: string): URL {
    try {
      return this.requireUrl(text);
    } catch (error) {
      throw new OutsideFailure("blocked_address", error);
    }
  }

  /**
   * The addresses of a host, if every one of them may be reached. One that may not be spoils all: who
   * mixes them wants the relay to take its pick until it takes that one, and no honest name has both.
   */
  async #judgedAddresses(host: string, signal: AbortSignal): Promise<string[]> {
    const addresses = await this.#addressesOf(host, signal);
    if (addresses.every(this.#isAllowed)) return addresses;
    throw new OutsideFailure("blocked_address");
  }

  async #addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    // That name is looked up nowhere: what resolvers and hosts files say of it differs.
    if (isLoopbackHost(host)) return ["127.0.0.1", "::1"];
    const addresses = await unlessAborted(this.#options.resolve(host, signal), signal);
    if (addresses.length > 0) return addresses;
    throw new OutsideFailure("dns");
  }
}

/** The system's resolver cannot be stopped: it goes on, and nobody waits for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}
