/** Request bodies, read whole, with bounds on size, time and what a pool holds in all. */
import { startIntervalTicker, type StartTicker, TICK_MS } from "../../time/ticker.ts";
import { BodyBudget } from "./body_budget.ts";
import { BODY_POOLS, type BodyPoolName, type BodyPools, type RouteBody } from "./body_pools.ts";
import { type BodyPool, RequestBody } from "./request_body.ts";

/** Reads the bodies of one process. */
export interface BodyReader {
  /**
   * Takes a request in hand whose route declares a body: until it is closed, what has come of it
   * counts against the budget of its pool. Nothing is read before it is asked for.
   * @param addressOf whose the body is, for the share of one address
   */
  open(request: Request, body: RouteBody, addressOf: () => string): OpenBody;
  /** Stops the ticker and cuts off the rests of bodies given up; reads that still wait end by themselves. */
  close(): void;
}

/** The body of a request in hand; read() is what readBody() gives a handler. */
export type OpenBody = Pick<RequestBody, "read" | "close">;

export interface BodyReaderOptions {
  /** A monotonic clock in milliseconds. */
  now?: () => number;
  startTicker?: StartTicker;
  /** BODY_POOLS unless given. */
  pools?: BodyPools;
}

/**
 * A reader whose deadlines share one ticker: a timer per request costs more than reading a small
 * body. The ticker runs from the first pending read to the first tick that finds none.
 */
export function createBodyReader(options: BodyReaderOptions = {}): BodyReader {
  const now = options.now ?? (() => performance.now());
  const startTicker = options.startTicker ?? startIntervalTicker;
  const rules = options.pools ?? BODY_POOLS;
  const pools = { messages: createPool("messages"), mail: createPool("mail") };
  const allPools = Object.values(pools);
  let stopTicker: (() => void) | undefined;

  function createPool(name: BodyPoolName): BodyPool {
    return {
      ...rules[name],
      budget: new BodyBudget(now, rules[name].bounds),
      now,
      unfinished: new Set(),
      discarded: new Set(),
      startTicking: () => void (stopTicker ??= startTicker(tick)),
    };
  }

  function tick(): void {
    const nowMs = now();
    for (const { unfinished } of allPools) for (const body of unfinished) body.expire(nowMs);
    dropStalled(allPools, nowMs);
    cutOff(nowMs);
    if (allPools.every((pool) => pool.unfinished.size + pool.discarded.size === 0)) stop();
  }

  function cutOff(nowMs: number): void {
    for (const { discarded } of allPools) for (const body of discarded) body.cutOff(nowMs);
  }

  function stop(): void {
    stopTicker?.();
    stopTicker = undefined;
  }

  return {
    open: (request, body, addressOf) =>
      new RequestBody(request, body.limitBytes, pools[body.pool], addressOf),
    close() {
      stop();
      cutOff(Infinity);
    },
  };
}

/**
 * Drops bodies until the process has no more unfinished ones than all shares together: in each pool
 * over its share the slowest, and none below it.
 */
function dropStalled(pools: readonly BodyPool[], nowMs: number): void {
  let excess = pools.reduce((sum, pool) => sum + pool.unfinished.size - pool.unfinishedShare, 0);
  for (const { unfinished, unfinishedShare } of pools) {
    const count = Math.min(excess, unfinished.size - unfinishedShare);
    if (count <= 0) continue;
    excess -= count;
    [...unfinished].filter(({ beganMs }) => nowMs - beganMs >= TICK_MS)
      .sort((a, b) => a.speed(nowMs) - b.speed(nowMs))
      .slice(0, count).forEach((body) => body.drop());
  }
}
