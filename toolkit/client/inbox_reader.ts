import type { InboxMessage } from "../inbox_message.ts";
import type { MessageReport } from "../message_report.ts";
import type { VerifyMessageOptions } from "../verify_message.ts";
import { parseAnswer } from "./answer_reader.ts";
import { sleep } from "./clock.ts";
import type { Connection } from "./connection.ts";
import type { Call } from "./exchange.ts";
import { readInboxPage } from "./read_records.ts";
import { type Verification, verifyReceived } from "./verify_received.ts";
import type { WhoamiRecord } from "./records.ts";
import { whoAmI } from "./register_agent.ts";
import type { Pins } from "./pins.ts";
import { askSigned, type Signer } from "./signing.ts";

/** Which messages, and how they are checked. */
export interface InboxOptions {
  /** Resumes after the message with this id; 0 unless given. */
  readonly since?: number;
  /** Whether to wait for messages yet to come; true unless given. */
  readonly follow?: boolean;
  /** How many messages are fetched at once, 1 to 200; 50 unless given. */
  readonly pageSize?: number;
  /** How long the relay is asked to wait for a message, 0 to 25 s; 25 unless given. */
  readonly waitSeconds?: number;
  /** Only messages that were never fetched before. */
  readonly unread?: boolean;
  /** Whether to verify each message; true unless given. */
  readonly verify?: boolean;
  /** The largest difference allowed between the signed time and `created_at`. */
  readonly maxSkewSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A message and what its verification said. */
export interface ReceivedMessage {
  readonly message: InboxMessage;
  readonly report: MessageReport;
  /**
   * What the report was made with, including the signed request if it had to be fetched.
   * verifyMessage of the message with it gives the same report.
   */
  readonly checkedWith: VerifyMessageOptions;
}

/** A message that was not verified, for that was turned off. */
export interface UncheckedMessage {
  readonly message: InboxMessage;
  readonly report: null;
}

/** The relay accepts a poll of the inbox every 2 s (specification 4.3). */
const POLL_INTERVAL_MS = 2_000;

/**
 * A page with fewer messages than were asked for is the last one when it is as small as this. A
 * larger page may have ended because of its bytes.
 */
export const SMALL_PAGE_BYTES = 65_536;

/** Reads one agent's inbox. */
export interface InboxReader {
  read(options: InboxOptions): AsyncGenerator<ReceivedMessage | UncheckedMessage, void>;
}

/** Remembers the polls and the agent from one reading to the next. */
export function createInboxReader(
  connection: Connection,
  signer: Signer,
  pins: Pins,
): InboxReader {
  let lastPollMs = -Infinity;
  let own: WhoamiRecord | undefined;

  async function* read(
    options: InboxOptions,
  ): AsyncGenerator<ReceivedMessage | UncheckedMessage, void> {
    const { follow = true, pageSize = 50, unread, verify = true, maxSkewSeconds, signal } = options;
    const waitSeconds = follow ? options.waitSeconds ?? 25 : 0;
    // A caller that follows wants to go on when the relay is back, however long that takes.
    const patient = follow ? { ...connection, retryForMs: Infinity } : connection;
    let since = options.since ?? 0;
    for (;;) {
      const query = {
        since_id: since,
        limit: pageSize,
        unread: unread ? true : undefined,
        wait: waitSeconds > 0 ? waitSeconds : undefined,
      };
      const answer = await poll(patient, { query, waitMs: waitSeconds * 1000, signal });
      const { messages, last_id } = readInboxPage(parseAnswer(answer), since);
      for (const message of messages) {
        yield verify
          ? { message, ...await check(patient, message, maxSkewSeconds, signal) }
          : { message, report: null };
      }
      since = last_id;
      const isShort = messages.length < pageSize && answer.bytes.length < SMALL_PAGE_BYTES;
      if (!follow && (isShort || messages.length === 0)) return;
    }
  }

  async function poll(patient: Connection, rest: Pick<Call, "query" | "waitMs" | "signal">) {
    const { clock } = connection;
    await sleep(clock, lastPollMs + POLL_INTERVAL_MS - clock.now(), rest.signal);
    lastPollMs = clock.now();
    const call = { method: "GET", path: "/v1/inbox", ...rest };
    return await askSigned(patient, signer, "read", call);
  }

  async function check(
    patient: Connection,
    message: InboxMessage,
    maxSkewSeconds: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Verification> {
    const from = pins.expectedSender(message);
    return await verifyReceived(message, {
      address: signer.keys.address,
      // Asked for once: handle and word name are permanent.
      whoami: async () => own ??= await whoAmI(patient, signer, signal),
      signedRequest: (id) => readSignedRequest(patient, signer, id, signal),
    }, { from, maxSkewSeconds });
  }

  return { read };
}

/**
 * The raw signed request of a message that the signer sent or received:
 * GET /v1/messages/{id}/signed-request.
 *
 * @returns exactly the bytes whose SHA-256 stands in the message's canonical_string
 * @throws {RefusalError} `not_found`
 */
export async function readSignedRequest(
  connection: Connection,
  signer: Signer,
  id: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const call = { method: "GET", path: `/v1/messages/${id}/signed-request`, signal };
  return (await askSigned(connection, signer, "read", call)).bytes;
}
