/** A reader of bodies by a clock that the test moves, and requests whose bodies come in parts. */
import { createBodyReader } from "../../server/base/http/bodies/body_reader.ts";
import type { BodyPools } from "../../server/base/http/bodies/body_pools.ts";

/** A request whose body is given. */
export function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request("http://h/", { method: "POST", body, headers });
}

/** A body of the given parts that never ends unless `end` is set. */
export function streamed(
  parts: string[],
  { end = true } = {},
): { request: Request; cancelled: boolean } {
  const state = {
    request: undefined as unknown as Request,
    cancelled: false,
  };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
      else if (end) controller.close();
      else return new Promise(() => {});
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  state.request = post(stream);
  return state;
}

/** A reader whose clock and ticker the test moves; `ticking` tells whether the ticker runs. */
export function movableReader(pools?: BodyPools) {
  const state = { nowMs: 0, ticking: 0, started: 0, tick: () => {} };
  const reader = createBodyReader({
    pools,
    now: () => state.nowMs,
    startTicker(tick) {
      state.ticking++;
      state.started++;
      state.tick = tick;
      return () => void state.ticking--;
    },
  });
  return { state, reader };
}
