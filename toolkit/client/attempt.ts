import { joinBytes } from "../join_bytes.ts";
import { AnswerError } from "./answer_error.ts";
import type { Connection } from "./connection.ts";
import { MAX_TIMER_MS } from "./clock.ts";
import { NetworkError } from "./network_error.ts";

/** One HTTP request as it will be sent. */
export interface HttpRequest {
  readonly method: string;
  /** The path as signed. */
  readonly path: string;
  /** With its `?`, or empty; it is not signed. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no body. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** A whole HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** A page of 200 messages has at most some 14 MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Tries a request once and reads the answer whole.
 *
 * @param timeoutMs how long it may take; Infinity for any time
 * @throws {NetworkError} when no whole answer came
 * @throws {AnswerError} `redirected` or `too_large`
 * @throws the reason of the signal when it aborts
 */
export async function attempt(
  { origin, fetch, clock }: Connection,
  { method, path, query, headers, body }: HttpRequest,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> {
  signal?.throwIfAborted();
  const abort = new AbortController();
  const stop = () => abort.abort(signal!.reason);
  signal?.addEventListener("abort", stop, { once: true });
  let isLate = false;
  const cancelTimer = timeoutMs > MAX_TIMER_MS ? () => {} : clock.after(timeoutMs, () => {
    isLate = true;
    abort.abort();
  });
  let answer: Response | undefined;
  try {
    answer = await fetch(`${origin}${path}${query}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // A signature for this relay is not for another host.
      redirect: "manual",
      signal: abort.signal,
    });
    refuseRedirection(answer);
    return { status: answer.status, headers: answer.headers, bytes: await readBytes(answer) };
  } catch (thrown) {
    if (thrown instanceof AnswerError) throw thrown;
    if (signal?.aborted) throw signal.reason;
    throw networkError(origin, thrown, isLate ? timeoutMs : undefined, answer !== undefined);
  } finally {
    cancelTimer();
    signal?.removeEventListener("abort", stop);
  }
}

function refuseRedirection({ status, type, body }: Response): void {
  if (type !== "opaqueredirect" && (status < 300 || status > 399)) return;
  body?.cancel().catch(() => {});
  throw new AnswerError(
    "redirected",
    status,
    "the relay's address leads elsewhere (a redirection); use the address that it leads to",
  );
}

async function readBytes({ body, status }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  const reader = body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader!.read()) {
    sizeBytes += next.value.length;
    if (sizeBytes > MAX_ANSWER_BYTES) {
      reader!.cancel().catch(() => {});
      throw new AnswerError("too_large", status, "the answer has over 64 MiB; no relay sends that");
    }
    chunks.push(next.value);
  }
  return joinBytes(chunks);
}

function networkError(
  origin: string,
  cause: unknown,
  lateMs: number | undefined,
  hasBegun: boolean,
): NetworkError {
  if (lateMs !== undefined) {
    const message = `no whole answer from ${origin} within ${lateMs} ms`;
    return new NetworkError("timeout", message, cause);
  }
  return hasBegun
    ? new NetworkError("cut", `the answer from ${origin} was cut off`, cause)
    : new NetworkError("unreachable", `${origin} cannot be reached: ${reasonOf(cause)}`, cause);
}

/** The platforms put what happened into the message, or into the cause's. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "the connection failed";
  return thrown.cause instanceof Error && thrown.cause.message !== ""
    ? thrown.cause.message
    : thrown.message;
}
