import { AnswerError } from "./answer_error.ts";
import { type Clock, systemClock } from "./clock.ts";
import { NetworkError } from "./network_error.ts";
import { RefusalError } from "./refusal_error.ts";

/** Why one try of a request had no success. */
export type Failure = NetworkError | AnswerError | RefusalError;

/** Whether something is one of them. */
export function isFailure(thrown: unknown): thrown is Failure {
  return thrown instanceof RefusalError || thrown instanceof NetworkError ||
    thrown instanceof AnswerError;
}

/** A try that failed, and when the next one follows. */
export interface Retry {
  readonly failure: Failure;
  /** How many tries there were. */
  readonly tries: number;
  readonly delayMs: number;
}

/** How to reach a relay. All but its address has a default. */
export interface ConnectionOptions {
  /** The relay's origin, such as `https://relay.example`; it has no path. */
  readonly relay: string;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** Random bytes: for the spread of retries, and for ids. */
  readonly random?: (sizeBytes: number) => Uint8Array;
  /** How long one try may take, in addition to the wait asked of the relay; 20,000 ms unless given. */
  readonly timeoutMs?: number;
  /** How long a request is tried again after a failure that may pass; 60,000 ms unless given. */
  readonly retryForMs?: number;
  /** Called before each wait for another try. */
  readonly onRetry?: (retry: Retry) => void;
}

/** {@linkcode ConnectionOptions}, checked and complete. */
export interface Connection {
  /** Without a slash at the end. */
  readonly origin: string;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: (sizeBytes: number) => Uint8Array;
  readonly timeoutMs: number;
  readonly retryForMs: number;
  readonly onRetry: (retry: Retry) => void;
}

/**
 * Checks and completes connection options.
 *
 * @throws {TypeError} for what is no origin of http or https, and for durations below 0
 */
export function connectionOf(options: ConnectionOptions): Connection {
  const { timeoutMs = 20_000, retryForMs = 60_000 } = options;
  for (const [name, value] of Object.entries({ timeoutMs, retryForMs })) {
    if (!(value >= 0)) throw new TypeError(`Cannot connect: ${name} must be a number from 0`);
  }
  return {
    origin: originOf(options.relay),
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? ((sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes))),
    timeoutMs,
    retryForMs,
    onRetry: options.onRetry ?? (() => {}),
  };
}

/**
 * The origin of a relay's address: a path would not be the one that requests are signed for.
 *
 * @throws {TypeError} when there is more than an origin, or another scheme
 */
function originOf(relay: string): string {
  let url: URL | undefined;
  try {
    url = new URL(relay);
  } catch {
    // said below
  }
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" &&
    url.search === "" && url.hash === "" && url.username === "" && url.password === "";
  if (isOrigin) return url!.origin;
  throw new TypeError(
    "Cannot connect: a relay's address is http:// or https://, a host and maybe a port, with no " +
      "path, such as https://relay.example",
  );
}
