/** A relay on a socket, from the first accepted connection to the last answer. */
import type { Hono } from "hono";
import type { Log } from "../base/log.ts";
import type { Crons } from "../base/parts/part.ts";
import { doneWithin } from "../base/time/done_within.ts";
import { RelayError } from "../base/errors.ts";
import { answerError, answerFailure } from "../base/http/answers/answer.ts";
import { describeFailure } from "../base/describe_failure.ts";
import { bindingsOf, type HttpEnv } from "../base/http/routes/route.ts";
import { openListener } from "./listener.ts";

/** What is served: the part of an open relay that matters to the socket. */
export interface Served {
  app: Pick<Hono<HttpEnv>, "fetch">;
  /** Answers every waiting poll at once and lets none wait any more. */
  endWaits?(): void;
  /** Resolves when every request that app.fetch() was given has been answered. */
  idle(): Promise<void>;
  /** Commits what is under way. */
  close(): Promise<void>;
}

/** An open relay as the process sees it. */
export interface ProcessRelay extends Served {
  /** Lines for the operator: what the parts of the relay found on or off. */
  startupNotes(): string[];
  /** Takes all that start-up printed. */
  rememberStartup?(lines: readonly string[]): void;
  /** Its log, where it keeps one for the operator. */
  log?: Log;
  crons?: Crons<void>;
}

export interface Serving {
  /** The port listened on, the one taken when 0 was asked. */
  port: number;
  /**
   * Stops: accepts nothing more, finishes what runs, closes the relay. Takes less than 5 s.
   * @returns false when something had to be cut off or failed
   */
  stop(): Promise<boolean>;
}

/** Time for requests under way to be answered, while the socket is still whole. */
const ANSWER_MS = 2000;
/** Time for the server to send what was answered and close its connections. */
const SHUTDOWN_MS = 1000;
/** Time for the relay to commit what it holds. */
const CLOSE_MS = 1000;

/**
 * Listens on host and port and hands each request to the application.
 * @throws Deno.errors.AddrInUse and its like when the address is not to be had
 */
export function serve(
  served: Served,
  options: { host: string; port: number; log: Log },
): Serving {
  const { log } = options;
  let stopping: Promise<boolean> | undefined;

  const listener = openListener({
    ...options,
    handle: (request, info) =>
      stopping === undefined ? served.app.fetch(request, bindingsOf(info)) : stoppingAnswer(),
    onError: (error) => answerFailure(error, log, crypto.randomUUID()),
  });

  async function stop(): Promise<boolean> {
    served.endWaits?.();
    // Deno.Server.shutdown() cuts off bodies that are still being sent: it comes second.
    const answered = await doneWithin(served.idle(), ANSWER_MS);
    const drained = await doneWithin(listener.shutdown(), SHUTDOWN_MS) && answered;
    // What still runs is cut off by the end of the process.
    if (!drained) log("shutdown_cut_requests", { after_ms: ANSWER_MS });
    let closed = false;
    try {
      closed = await doneWithin(served.close(), CLOSE_MS);
      if (!closed) log("shutdown_close_timed_out", { after_ms: CLOSE_MS });
    } catch (error) {
      log("shutdown_close_failed", describeFailure(error));
    }
    return drained && closed;
  }

  return {
    port: listener.port,
    stop: () => stopping ??= stop(),
  };
}

/** To requests that come on open connections while the last ones are finished. */
function stoppingAnswer(): Response {
  const answer = answerError(
    new RelayError("unavailable", "the relay is stopping: connect and send again", {
      retryAfterMs: 1000,
      closeConnection: true,
    }),
  );
  answer.headers.set("X-Request-Id", crypto.randomUUID());
  return answer;
}
