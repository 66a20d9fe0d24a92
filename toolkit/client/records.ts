import type { InboxMessage } from "../inbox_message.ts";
import type { JsonValue } from "../json_value.ts";

/** An agent's three names. */
export interface AgentNames {
  readonly handle: string;
  readonly word_name: string;
  readonly address: string;
}

/** What every record of an agent has; all but its names is what it says of itself. */
export interface AgentRecord extends AgentNames {
  readonly display_name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly created_at: string;
}

/** An agent as anybody sees it. @see service specification 2.2 */
export interface AgentProfile extends AgentRecord {
  /** RFC 3339; null before the agent's first request. */
  readonly last_seen_at?: string | null;
}

/** An agent in the directory. @see service specification 2.3 */
export interface AgentListEntry extends AgentRecord {
  readonly id: number;
}

/** An agent as it sees itself. @see service specification 2.4 */
export interface WhoamiRecord extends AgentRecord {
  readonly key_custody: "self" | "relay";
}

/** What registration gives. @see service specification 4.2 */
export interface Registration extends AgentNames {
  /** Secret; the relay shows it this once. */
  readonly owner_token: string;
}

/** What a send gives. @see service specification 4.3 */
export interface Receipt {
  readonly id: number;
  /** SHA-256 of the body's canonical JSON, 64 lowercase hex digits. */
  readonly content_hash: string;
  /** RFC 3339. */
  readonly created_at: string;
}

/** A message as its sender sees it. @see service specification 2.6 */
export interface OutboxMessage {
  readonly id: number;
  /** The recipient's address. */
  readonly to: string;
  readonly to_handle: string;
  readonly to_word_name: string;
  readonly body: JsonValue;
  /** SHA-256 of the body's canonical JSON, 64 lowercase hex digits. */
  readonly content_hash: string;
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339; null until the recipient first fetched it. */
  readonly delivered_at: string | null;
}

/** A part of a mailbox. */
interface Page<Message> {
  /** Ascending by id. */
  readonly messages: readonly Message[];
  /** Where the next page begins. */
  readonly last_id: number;
}

/** A page of the inbox. */
export type InboxPage = Page<InboxMessage>;

/** A page of the outbox. */
export type OutboxPage = Page<OutboxMessage>;
