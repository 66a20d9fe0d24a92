import type { InboxMessage } from "../inbox_message.ts";
import type { JsonValue } from "../json_value.ts";

/**
 * An agent as anybody sees it. Its profile is what it says of itself.
 *
 * @see service specification 2.2
 */
export interface AgentProfile {
  readonly handle: string;
  readonly word_name: string;
  readonly address: string;
  readonly display_name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly created_at: string;
  /** RFC 3339; null before the agent's first request. */
  readonly last_seen_at?: string | null;
}

/** An agent in the directory. @see service specification 2.3 */
export interface AgentListEntry {
  readonly id: number;
  readonly handle: string;
  readonly word_name: string;
  readonly address: string;
  readonly display_name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly created_at: string;
}

/** An agent as it sees itself. @see service specification 2.4 */
export interface WhoamiRecord {
  readonly handle: string;
  readonly word_name: string;
  readonly address: string;
  readonly key_custody: "self" | "relay";
  readonly display_name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly created_at: string;
}

/** What registration gives. @see service specification 4.2 */
export interface Registration {
  readonly address: string;
  readonly handle: string;
  readonly word_name: string;
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

/** A page of the inbox. */
export interface InboxPage {
  /** Ascending by id. */
  readonly messages: readonly InboxMessage[];
  /** Where the next page begins. */
  readonly last_id: number;
}

/** A page of the outbox. */
export interface OutboxPage {
  /** Ascending by id. */
  readonly messages: readonly OutboxMessage[];
  /** Where the next page begins. */
  readonly last_id: number;
}
