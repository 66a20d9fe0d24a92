/** Messages of an inbox as they come, as server-sent events (docs/mail.md, "A live stream"). */
import { rateLimited } from "../../../base/errors.ts";
import { NO_STORE } from "../../../base/http/answers/answer.ts";
import { Semaphore } from "../../../base/bounds/semaphore.ts";
import type { Waiter } from "../../../base/waiting/waiter.ts";
import { MINUTE_MS } from "../../../base/time/time_units.ts";
import type { MessagePage } from "./message_pages.ts";

export interface MessageStreamsOptions {
  /** Calls back once after so many ms; returns what gives that up. */
  startTimer?: (callback: () => void, ms: number) => () => void;
  /** Streams that one org may have open in this process. */
  perOrg?: number;
}

export interface StreamRequest {
  /** Where the stream begins: id of a message; "" for the beginning. */
  position: string;
  /** A waiter that was opened before `position` was decided. */
  waiter: Waiter<string>;
  /** Rows behind a position, none where nothing has come. */
  readAfter(position: string): Promise<MessagePage>;
  cursorAt(position: string): string;
  /** @throws where the key that opened the stream is no longer good */
  confirm(): Promise<void>;
}

const COMMENT_MS = 15_000;
const LONGEST_MS = 15 * MINUTE_MS;
const STREAMS_PER_ORG = 10;
const HEADERS = {
  ...NO_STORE,
  "Content-Type": "text/event-stream; charset=utf-8",
  "X-Accel-Buffering": "no", // a proxy that gathers events would hold them back
};

const encoder = new TextEncoder();

/** The streams of one process. */
export class MessageStreams {
  readonly #open: Semaphore<string>;
  readonly #startTimer: NonNullable<MessageStreamsOptions["startTimer"]>;
  readonly #perOrg: number;

  constructor(
    { startTimer = startRealTimer, perOrg = STREAMS_PER_ORG }: MessageStreamsOptions = {},
  ) {
    this.#startTimer = startTimer;
    this.#perOrg = perOrg;
    this.#open = new Semaphore({ permits: perOrg });
  }

  /**
   * Takes a place for a stream.
   * @returns gives it back; later calls do nothing
   * @throws RelayError `rate_limited`
   */
  take(orgId: string): () => void {
    const giveBack = this.#open.tryTake(orgId);
    if (giveBack === null) {
      throw rateLimited(
        `an org may have ${this.#perOrg} streams open; close one, or poll with wait`,
        COMMENT_MS,
      );
    }
    return giveBack;
  }

  /**
   * The answer: rows as events, as fast as the client takes them; one that takes nothing holds one
   * page. Ends after 15 minutes, with the key, with the client and with the relay.
   * @param giveBack what take() returned
   */
  answer(request: StreamRequest, giveBack: () => void): Response {
    const { waiter, readAfter, cursorAt, confirm } = request;
    let { position } = request;
    let isOver = false;
    let wake = () => {};
    const stopClock = this.#startTimer(() => end(), LONGEST_MS);
    const end = () => {
      isOver = true;
      stopClock();
      waiter.end();
      wake();
      giveBack();
    };
    /** @returns the next bytes, null at the end */
    const next = async (): Promise<string | null> => {
      for (;;) {
        if (isOver || waiter.isOver) return null;
        const page = await readAfter(position);
        if (page.position !== null) position = page.position;
        if (page.rows.length > 0) {
          await confirm();
          return page.rows.map(({ id }, i) =>
            `id: ${cursorAt(id)}\nevent: message\ndata: ${page.json[i]}\n\n`
          ).join("");
        }
        if (page.more) continue;
        if (await this.#commentFirst(waiter, (give) => wake = give)) {
          await confirm();
          return ": still here\n\n";
        }
      }
    };
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(": from here on\n\n")),
      async pull(controller) {
        // A key that died ends the stream as its time does: what it may still see is nothing.
        const text = await next().catch(() => null);
        if (text === null) {
          end();
          controller.close();
        } else controller.enqueue(encoder.encode(text));
      },
      cancel: end,
    }, { highWaterMark: 0 });
    return new Response(body, { headers: HEADERS });
  }

  /** Waits for a change, for as long as a proxy surely keeps a silent connection. */
  async #commentFirst(
    waiter: Waiter<string>,
    onWake: (wake: () => void) => void,
  ): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = this.#startTimer(() => resolve(true), COMMENT_MS);
    onWake(() => resolve(false));
    try {
      return await Promise.race([waiter.next().then(() => false), promise]);
    } finally {
      stop();
    }
  }
}

function startRealTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
