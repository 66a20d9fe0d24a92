/** GET /dev/live: tells pages that something was captured, as server-sent events. */
import { unavailable } from "../../base/errors.ts";
import { LOCAL_HEADERS } from "./local_route.ts";

/** Pages of one developer. */
const STREAMS = 20;
const encoder = new TextEncoder();

export class LocalStream {
  readonly #open = new Set<ReadableStreamDefaultController<Uint8Array>>();

  /**
   * A stream of its own, until its client or the relay ends it.
   * @param isHead of which nobody reads more than the headers
   * @throws RelayError `unavailable`
   */
  answer(isHead: boolean): Response {
    const headers = { ...LOCAL_HEADERS, "Content-Type": "text/event-stream; charset=utf-8" };
    if (isHead) return new Response(null, { headers });
    if (this.#open.size >= STREAMS) {
      throw unavailable(`at most ${STREAMS} pages of local mode are live; close one`, 5_000);
    }
    let mine: ReadableStreamDefaultController<Uint8Array>;
    const open = this.#open;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        mine = controller;
        open.add(controller);
        controller.enqueue(encoder.encode(": from here on\n\n"));
      },
      cancel: () => void open.delete(mine),
    });
    return new Response(body, { headers });
  }

  /** Something was captured. A page that takes nothing has one event waiting. */
  tell(): void {
    for (const controller of this.#open) {
      if (controller.desiredSize !== null && controller.desiredSize > -1) {
        controller.enqueue(encoder.encode("event: message\ndata: captured\n\n"));
      }
    }
  }

  close(): void {
    for (const controller of this.#open) controller.close();
    this.#open.clear();
  }
}
