/** A relay on a real socket and clients of it, with faults between them and time that jumps. */
import type { Clock } from "../../toolkit/client/clock.ts";
import { RelayClient, type RelayClientOptions } from "../../toolkit/client/relay_client.ts";
import { generateKeyPair } from "../../toolkit/mod.ts";
import type { TestClock } from "../support/clock.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";

/**
 * What goes wrong with one request:
 *
 * - `refused`: it never reaches the relay
 * - `dropped`: the relay carries it out, the answer is lost
 * - `cut`: the relay carries it out, half of the answer arrives
 * - `slow`: the relay carries it out, no answer comes in time
 * - an answer that comes in the relay's place
 */
export type Fault = "refused" | "dropped" | "cut" | "slow" | FaultyAnswer;

export interface FaultyAnswer {
  status: number;
  headers?: Record<string, string>;
  /** JSON unless it is a string. */
  body: unknown;
  /** True where the relay carries the request out all the same. */
  isCarriedOut?: boolean;
}

/** A request as the client sent it. */
export interface SeenRequest {
  method: string;
  /** With the query. */
  target: string;
  headers: Headers;
  body: string;
}

export interface ClientWorld extends AsyncDisposable {
  relay: TestRelay;
  /** Taken one a request; the request goes through when there is none, or it is undefined. */
  faults: (Fault | undefined)[];
  seen: SeenRequest[];
  /** Called with each answer of the relay before it goes on; may change it. */
  alter: ((target: string, text: string) => string) | undefined;
  clock: Clock;
  fetch: typeof fetch;
  client(options?: Partial<RelayClientOptions>): RelayClient;
}

/** The refusal that an overloaded relay answers. */
export function refusal(
  status: number,
  code: string,
  retryAfterMs?: number,
): FaultyAnswer {
  const body = { error: { code, message: "no" } };
  return status === 429
    ? { status, body: { ...body, retry_after_ms: retryAfterMs } }
    : { status, body, headers: retryAfterMs ? { "Retry-After": String(retryAfterMs / 1000) } : {} };
}

export async function startClientWorld(options: TestRelayOptions = {}): Promise<ClientWorld> {
  const relay = await startTestRelay(options);
  const time = jumpingClock(relay.clock);
  const world: ClientWorld = {
    relay,
    faults: [],
    seen: [],
    alter: undefined,
    clock: time.clock,
    fetch: (input, init) => time.during(() => faultyFetch(world, time, input, init)),
    client: (more = {}) =>
      new RelayClient({
        relay: relay.url,
        keys: generateKeyPair(),
        clock: world.clock,
        fetch: world.fetch,
        ...more,
      }),
    [Symbol.asyncDispose]: () => relay.stop(),
  };
  return world;
}

async function faultyFetch(
  world: ClientWorld,
  time: JumpingClock,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const target = String(input).slice(world.relay.url.length);
  const bytes = init.body as Uint8Array<ArrayBuffer> | undefined;
  world.seen.push({
    method: init.method!,
    target,
    headers: new Headers(init.headers),
    body: new TextDecoder().decode(bytes),
  });
  const fault = world.faults.shift();
  if (fault === "refused") throw new TypeError("fetch failed", { cause: new Error("refused") });
  if (typeof fault === "object") {
    const { status, headers, body, isCarriedOut = false } = fault;
    if (isCarriedOut) await (await fetch(input, init)).body?.cancel();
    return new Response(typeof body === "string" ? body : JSON.stringify(body), {
      status,
      headers,
    });
  }
  const answer = await fetch(input, init);
  const text = await answer.text();
  if (fault === "dropped") throw new TypeError("fetch failed");
  if (fault === "slow") return await time.tooLate(init.signal!);
  const { status, headers } = answer;
  if (fault === "cut") return new Response(halfOf(text), { status, headers });
  return new Response(world.alter?.(target, text) ?? text, { status, headers });
}

function halfOf(text: string): ReadableStream<Uint8Array> {
  const half = new TextEncoder().encode(text.slice(0, text.length / 2));
  let isSent = false;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(new TypeError("connection reset"));
      else controller.enqueue(half);
      isSent = true;
    },
  });
}

interface JumpingClock {
  clock: Clock;
  /** Runs a fetch; until its caller takes the timer back that it has set, time stands. */
  during<T>(run: () => Promise<T>): Promise<T>;
  /** Lets the time pass that the caller of a fetch grants it. */
  tooLate(signal: AbortSignal): Promise<never>;
}

/**
 * Time that stands while a request is under way and else jumps to the next timer, so that nothing
 * in a test waits. The relay's clock moves with it.
 */
function jumpingClock(shared: TestClock): JumpingClock {
  interface Timer {
    atMs: number;
    callback: () => void;
    /** Whether it guards a request. */
    guards: boolean;
  }
  const timers = new Set<Timer>();
  let latest: Timer | undefined;

  function fire(timer: Timer): void {
    timers.delete(timer);
    shared.set(Math.max(shared.now(), timer.atMs));
    timer.callback();
  }
  function jumpSoon(): void {
    setTimeout(() => {
      const waiting = [...timers];
      if (waiting.some(({ guards }) => guards)) return;
      const [next] = waiting.sort((a, b) => a.atMs - b.atMs);
      if (next !== undefined) fire(next);
    }, 0);
  }

  return {
    clock: {
      now: shared.now,
      after(delayMs, callback) {
        const timer = { atMs: shared.now() + delayMs, callback, guards: false };
        latest = timer;
        timers.add(timer);
        jumpSoon();
        return () => {
          timers.delete(timer);
          jumpSoon();
        };
      },
    },
    during(run) {
      // A client sets its timer right before it calls fetch.
      if (latest !== undefined) latest.guards = true;
      return run();
    },
    tooLate(signal) {
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        // The earliest guard is this request's: tests are slow with one request at a time.
        const [guard] = [...timers].filter(({ guards }) => guards)
          .sort((a, b) => a.atMs - b.atMs);
        fire(guard!);
      });
    },
  };
}
