import { canonicalJson } from "../canonical_json.ts";
import type { JsonObject } from "../json_value.ts";
import { AnswerError } from "./answer_error.ts";
import { parseAnswer } from "./answer_reader.ts";
import { attempt, type HttpAnswer } from "./attempt.ts";
import { sleep } from "./clock.ts";
import { type Connection, type Failure, isFailure } from "./connection.ts";
import { RefusalError } from "./refusal_error.ts";
import { backoffMs, isPassing } from "./retry_rules.ts";

/** A request to the relay, with all its tries. */
export interface Call {
  readonly method: string;
  readonly path: string;
  /** Members that are undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /**
   * The headers of each try.
   *
   * @param isUnclear whether an earlier try may have been carried out
   * @returns undefined when no further try may be made
   */
  readonly headers?: (isUnclear: boolean) => SentHeaders | Promise<SentHeaders>;
  /** How long the relay is asked to wait before it answers. */
  readonly waitMs?: number;
  /** In place of the connection's. */
  readonly retryForMs?: number;
  readonly signal?: AbortSignal | undefined;
}

type SentHeaders = Readonly<Record<string, string>> | undefined;

/** How a call ended. */
export interface Outcome {
  /** A success, or the failure of the last try. */
  readonly result: HttpAnswer | Failure;
  /** Whether a try before the last may have been carried out, its answer lost. */
  readonly isUnclear: boolean;
}

/**
 * Asks the relay until it answers with a success or a refusal that will not pass, or the time for
 * tries is used up. Waits as long as the relay says where it does.
 *
 * @throws the reason of the signal when it aborts
 */
export async function exchange(connection: Connection, call: Call): Promise<Outcome> {
  const { clock, onRetry } = connection;
  const giveUpMs = clock.now() + (call.retryForMs ?? connection.retryForMs);
  let isUnclear = false;
  let headers = await call.headers?.(false);
  for (let tries = 1;; tries++) {
    const result = await tryOnce(connection, call, headers);
    if (!isFailure(result) || !isPassing(result)) return { result, isUnclear };
    const delayMs = backoffMs(result, tries, connection.random);
    if (clock.now() + delayMs > giveUpMs) return { result, isUnclear };
    onRetry({ failure: result, tries, delayMs });
    await sleep(clock, delayMs, call.signal);
    const wasUnclear = isUnclear;
    isUnclear ||= result.mayHaveHappened;
    if (call.headers !== undefined) {
      headers = await call.headers(isUnclear);
      if (headers === undefined) return { result, isUnclear: wasUnclear };
    }
  }
}

/**
 * As {@linkcode exchange}.
 *
 * @returns the answer, a success
 * @throws {RefusalError | NetworkError | AnswerError} the failure of the last try
 */
export async function ask(connection: Connection, call: Call): Promise<HttpAnswer> {
  const { result } = await exchange(connection, call);
  if (isFailure(result)) throw result;
  return result;
}

async function tryOnce(
  connection: Connection,
  { method, path, query, body, waitMs = 0, signal }: Call,
  headers: SentHeaders,
): Promise<HttpAnswer | Failure> {
  const request = { method, path, query: queryText(query), headers: headers ?? {}, body };
  try {
    const answer = await attempt(connection, request, connection.timeoutMs + waitMs, signal);
    return answer.status >= 200 && answer.status <= 299 ? answer : readRefusal(answer);
  } catch (thrown) {
    if (isFailure(thrown)) return thrown;
    throw thrown;
  }
}

/** The body of a request: RFC 8785 bytes. Members that are undefined are left out. */
export function jsonBytes(value: { readonly [name: string]: unknown }): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalJson(value as JsonObject));
}

function queryText(query: Call["query"]): string {
  const members = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const text = members.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return text.length === 0 ? "" : `?${text.join("&")}`;
}

/**
 * Reads an answer that is no success.
 *
 * @returns the relay's refusal; an AnswerError when it has not the contract's form
 * @see service specification 2.9
 */
function readRefusal(answer: HttpAnswer): RefusalError | AnswerError {
  const { status, headers } = answer;
  const body = bodyOf(answer);
  const error = body?.error;
  if (
    typeof error !== "object" || error === null || Array.isArray(error) ||
    typeof error.code !== "string" || typeof error.message !== "string"
  ) {
    return new AnswerError(
      "not_of_the_contract",
      status,
      `the answer is HTTP ${status} and not an error of a relay: a proxy may have answered`,
      headerWaitMs(headers),
    );
  }
  return new RefusalError(error.code, error.message, {
    status,
    retryAfterMs: bodyWaitMs(body?.retry_after_ms) ?? headerWaitMs(headers),
    requestId: headers.get("x-request-id") ?? undefined,
  });
}

// deno-lint-ignore no-explicit-any -- each member is checked where it is read
function bodyOf(answer: HttpAnswer): any {
  try {
    return parseAnswer(answer);
  } catch (thrown) {
    if (thrown instanceof AnswerError) return undefined;
    throw thrown;
  }
}

function bodyWaitMs(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

/** Retry-After in seconds; its other form, a date, needs the relay's clock. */
function headerWaitMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined;
}
