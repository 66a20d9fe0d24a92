import type { InboxOptions, ReceivedMessage } from "../client/inbox_reader.ts";
import type { RelayClient, RequestOptions } from "../client/relay_client.ts";
import type { NewMessage, SentMessage } from "../client/send_message.ts";
import type { StateFile } from "./state_file.ts";

/** How messages are received; where to begin is kept beside the key file. */
export interface ReceiveOptions
  extends Pick<InboxOptions, "follow" | "pageSize" | "waitSeconds" | "maxSkewSeconds"> {
  /** Ends receiving: after the message in hand, or while waiting for one. */
  readonly signal?: AbortSignal;
}

/** Does what a message asks for. */
export type MessageHandler = (received: ReceivedMessage) => unknown;

/** An agent whose key and place are kept in files; see openAgent. */
export interface Agent {
  readonly address: string;
  readonly handle: string;
  readonly word_name: string;
  /** All that a client can do. */
  readonly client: RelayClient;
  /** Sends a message: one, whatever happens on the way. @throws as RelayClient.send */
  send(message: NewMessage, options?: RequestOptions): Promise<SentMessage>;
  /**
   * Hands every message to the handler, one after the other, oldest first, and then those that
   * come. Ends when the signal aborts; with `follow: false`, when there are no more.
   *
   * Each message is handed over at least once: the cursor moves when the handler has returned.
   * After a crash the same message comes again, so that none is lost. For work that must not be
   * done twice, the handler must check the message's `from` and `signature`. If the handler throws,
   * receiving ends, and the message comes again next time. To skip a message, the handler returns.
   *
   * @throws what the handler throws
   * @throws {TypeError} while another `receive` goes on
   * @throws {FileError} when the cursor cannot be kept
   * @throws {RefusalError | AnswerError} when the relay refuses in a way that will not pass
   */
  receive(handler: MessageHandler, options?: ReceiveOptions): Promise<void>;
}

/** What an {@linkcode Agent} stands on. */
export interface AgentParts extends Pick<Agent, "address" | "handle" | "word_name" | "client"> {
  readonly state: StateFile;
  /** The relay's origin. */
  readonly relay: string;
}

/** Makes an agent of its parts. */
export function createAgent(
  { state, relay, client, address, handle, word_name }: AgentParts,
): Agent {
  let isReceiving = false;

  async function receive(handler: MessageHandler, options: ReceiveOptions): Promise<void> {
    const { follow, pageSize, waitSeconds, maxSkewSeconds, signal } = options;
    const since = await state.cursor(relay, address);
    const messages = client.inbox({ follow, pageSize, waitSeconds, maxSkewSeconds, signal, since });
    try {
      for (;;) {
        const received = await next(messages, signal);
        if (received === undefined) return;
        await handler(received);
        await state.keepCursor(relay, address, received.message.id);
      }
    } finally {
      await messages.return();
    }
  }

  return {
    address,
    handle,
    word_name,
    client,
    send: (message, options) => client.send(message, options),
    async receive(handler, options = {}) {
      if (isReceiving) throw new TypeError("Cannot receive twice at once: each would get all");
      isReceiving = true;
      try {
        await receive(handler, options);
      } finally {
        isReceiving = false;
      }
    },
  };
}

/** Undefined after the last message, and when the signal has aborted. */
async function next(
  messages: AsyncGenerator<ReceivedMessage, void>,
  signal: AbortSignal | undefined,
): Promise<ReceivedMessage | undefined> {
  if (signal?.aborted) return undefined;
  try {
    return (await messages.next()).value ?? undefined;
  } catch (thrown) {
    if (signal?.aborted) return undefined;
    throw thrown;
  }
}
