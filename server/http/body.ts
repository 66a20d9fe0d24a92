/** Request bodies, read whole, with bounds on size, time and what all of them hold together. */
import { BODY_BOUNDS, type BodyBounds, BodyBudget } from "./body_budget.ts";
import { RequestBody } from "./request_body.ts";
import { type RestOfBody, RestsOfBodies } from "./rests_of_bodies.ts";

/** Reads the whole body of a request. */
export interface BodyReader {
  /**
   * Takes a request in hand whose body a route may read: until the body is closed, what has come of
   * it counts against the room for bodies.
   * @param addressOf whose the body is, for the share of one address
   */
  open(request: Request, addressOf: () => string): Pick<RequestBody, "close">;
  /**
   * The raw bytes of the body; empty when there is none.
   * @param limitBytes greatest size that is accepted
   * @param what how messages call it, as in "request body"
   * @throws RelayError payload_too_large when the body is larger: at once by Content-Length, else
   * when the limit is passed; request_timeout when it is not complete in time; unavailable when it
   * has to give way to others; invalid_json when it is encoded or ends early
   */
  read(request: Request, limitBytes: number, what?: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Stops the ticker and cuts off the rests of bodies given up; reads that still wait end by themselves. */
  close(): void;
}

/** What routes are given of a reader; see BodyReader.read. */
export type ReadBody = BodyReader["read"];

export interface BodyReaderOptions {
  /** Milliseconds within which a body must be complete; passed at most one tick later. */
  deadlineMs?: number;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
  /** Calls `tick` about once a second until the function it returns is called. */
  startTicker?: (tick: () => void) => () => void;
  bounds?: BodyBounds;
}

/** Decisions, "Bodies": a body not complete within 15 s is refused. */
const BODY_DEADLINE_MS = 15_000;
const TICK_MS = 1000;
/** Bodies that may be incomplete after a second: of more, the slowest are dropped. */
const UNFINISHED_BODIES = 2048;

/**
 * A reader whose deadlines share one ticker: a timer per request costs more than reading a small
 * body. The ticker runs from the first pending read to the first tick that finds none.
 */
export function createBodyReader(options: BodyReaderOptions = {}): BodyReader {
  const now = options.now ?? (() => performance.now());
  const startTicker = options.startTicker ?? startIntervalTicker;
  const bodies = new WeakMap<Request, RequestBody>();
  const pending = new Set<RequestBody>();
  const rests = new RestsOfBodies(now);
  let stopTicker: (() => void) | undefined;

  const keeping = {
    budget: new BodyBudget(now, options.bounds ?? BODY_BOUNDS),
    now,
    deadlineMs: options.deadlineMs ?? BODY_DEADLINE_MS,
    watch(body: RequestBody) {
      pending.add(body);
      stopTicker ??= startTicker(tick);
    },
    unwatch: (body: RequestBody) => void pending.delete(body),
    discard(rest: RestOfBody) {
      rests.add(rest);
      stopTicker ??= startTicker(tick);
    },
  };

  function tick(): void {
    const nowMs = now();
    for (const body of pending) body.expire(nowMs);
    dropStalled(pending, nowMs);
    rests.cutOff(nowMs);
    if (pending.size === 0 && rests.size === 0) stop();
  }

  function stop(): void {
    stopTicker?.();
    stopTicker = undefined;
  }

  function open(request: Request, addressOf: () => string): RequestBody {
    const body = new RequestBody(request, keeping, addressOf);
    bodies.set(request, body);
    return body;
  }

  return {
    open,
    read: (request, limitBytes, what = "request body") =>
      (bodies.get(request) ?? open(request, () => "unknown")).read(limitBytes, what),
    close() {
      stop();
      rests.cutOffAll();
    },
  };
}

/** Each of them costs 30 to 150 KB, little or nothing of it for bytes that came. */
function dropStalled(pending: ReadonlySet<RequestBody>, nowMs: number): void {
  const excess = pending.size - UNFINISHED_BODIES;
  if (excess <= 0) return;
  [...pending].filter(({ beganMs }) => nowMs - beganMs >= TICK_MS)
    .sort((a, b) => a.speed(nowMs) - b.speed(nowMs))
    .slice(0, excess).forEach((body) => body.drop());
}

function startIntervalTicker(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MS);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
