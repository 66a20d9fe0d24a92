/** What SMTP sessions may cost (docs/mail.md, "Mail straight from the internet"). */
import type { BodyBounds } from "../../../base/http/bodies/body_budget.ts";
import { BODY_POOLS } from "../../../base/http/bodies/body_pools.ts";
import { MINUTE_MS } from "../../../base/time/time_units.ts";

export interface SmtpBounds {
  /** Of all clients. */
  connections: number;
  connectionsPerAddress: number;
  /** New ones: who comes more often waits for a refusal, and more than that are closed unheard. */
  connectionsPerMinute: number;
  /** The same for all programs of this machine together, in local mode. */
  localConnectionsPerMinute: number;
  /** Bytes of messages that are coming or being stored. */
  messages: BodyBounds;
  /** For a command to come whole, and for a handshake; RFC 5321, 4.5.3.2, would have 5 minutes. */
  commandMs: number;
  /** For a message: so long, and a second more for each `messageBytesPerSecond` that came. */
  messageMs: number;
  messageBytesPerSecond: number;
  /** Of a session, and again after each message that is taken: read as it comes; what goes on is read in turns. */
  promptBytes: number;
  /** Of all such, together. Not less than `messageBytesPerSecond` for each connection. */
  readBytesPerSecond: number;
  sessionMs: number;
  /** What is left of a connection that the relay ends, for its last words to be read. */
  farewellMs: number;
  /**
   * A session that its client has kept waiting for so long, or a message that is so far behind its
   * slowest speed, gives way to a new one when all connections are taken.
   */
  givesWayMs: number;
  recipients: number;
  /** RCPT commands of one message: those over `recipients` are told to come with another. */
  askedRecipients: number;
  /** Refused recipients of a session. */
  refusedRecipients: number;
  /** Commands of a session that are malformed, unknown or out of order. */
  errors: number;
  /** Commands other than those of a transaction, since the last message. */
  idleCommands: number;
  /** So many of those three together are answered at once, then about one command a second. */
  promptReplies: number;
  /** Octets of a command line with its end: four times RFC 5321's, for parameters. */
  lineBytes: number;
}

export const SMTP_BOUNDS: SmtpBounds = {
  connections: 1_000,
  connectionsPerAddress: 10,
  connectionsPerMinute: 300,
  localConnectionsPerMinute: 6_000,
  messages: BODY_POOLS.mail.bounds,
  commandMs: MINUTE_MS,
  messageMs: MINUTE_MS,
  messageBytesPerSecond: 32 * 1024,
  promptBytes: 64 * 1024,
  readBytesPerSecond: 32 * 1024 * 1024,
  sessionMs: 30 * MINUTE_MS,
  farewellMs: 2_000,
  givesWayMs: 5_000,
  recipients: 100,
  askedRecipients: 1_000,
  refusedRecipients: 200,
  errors: 20,
  idleCommands: 100,
  promptReplies: 20,
  lineBytes: 2_048,
};
