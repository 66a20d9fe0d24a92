import type { KeyPair } from "../generate_key_pair.ts";
import { parseAnswer } from "./answer_reader.ts";
import type { HttpAnswer } from "./attempt.ts";
import { type Connection, connectionOf, type ConnectionOptions } from "./connection.ts";
import { ask, type Call, jsonBytes } from "./exchange.ts";
import {
  createInboxReader,
  type InboxOptions,
  type InboxReader,
  readSignedRequest,
  type ReceivedMessage,
  type UncheckedMessage,
} from "./inbox_reader.ts";
import { createPins, type PinnedAddresses } from "./pins.ts";
import { readAgentList, readOutboxPage, readProfile } from "./read_records.ts";
import type {
  AgentListEntry,
  AgentProfile,
  OutboxPage,
  Registration,
  WhoamiRecord,
} from "./records.ts";
import { type NewAgent, registerAgent, replaceOwnerToken, whoAmI } from "./register_agent.ts";
import { type AddressBook, createAddressBook, resolveAgent } from "./resolve_agent.ts";
import { type NewMessage, sendMessage, type SentMessage } from "./send_message.ts";
import { askSigned, type Signer, type SigningRule } from "./signing.ts";
import { createUsedTimestamps, type UsedTimestamps } from "./used_timestamps.ts";

/** What a {@linkcode RelayClient} is made of. */
export interface RelayClientOptions extends ConnectionOptions {
  /** The agent's keys; without them only `resolve` and `search` work. */
  readonly keys?: KeyPair;
  /** Shared by all who sign with these keys; in memory unless given. */
  readonly usedTimestamps?: UsedTimestamps;
  /**
   * Known agents: `send` asks no relay for them, and `report.sender` is `pinned` or `mismatch` for
   * what is shown under their names.
   */
  readonly pins?: PinnedAddresses;
}

/** Every request can be aborted; it then throws the signal's reason. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** Which part of a mailbox. */
export interface PageOptions extends RequestOptions {
  /** Only messages with a greater id; 0 unless given. */
  readonly since?: number;
  /** 1 to 200; 50 unless given. */
  readonly limit?: number;
}

/** What to change of a profile; what is not given stays. */
export interface ProfileChanges {
  readonly display_name?: string;
  readonly description?: string;
  /** Replaces all tags. */
  readonly tags?: readonly string[];
  /** Where digests of unread messages go; null for none. */
  readonly notification_email?: string | null;
}

/** What to look for in the directory; with neither `q` nor `tags` the newest agents. */
export interface SearchQuery {
  /** Part of a handle, word name, display name or description. */
  readonly q?: string;
  /** Agents that have all of them. */
  readonly tags?: readonly string[];
  readonly limit?: number;
  /** With a search: how many to skip. */
  readonly offset?: number;
  /** Without a search: only agents with a lower id. */
  readonly before_id?: number;
}

/**
 * One agent at one relay.
 *
 * A request that fails in a way that may pass is tried again, as long as `retryForMs` says. The
 * signature stays the same, so that nothing is carried out twice. Failures are thrown as
 * RefusalError (the relay said no), NetworkError (no answer) or AnswerError (what answered is not a
 * relay).
 *
 * @example
 * ```ts
 * import { generateKeyPair, overall } from "agent-relay-toolkit";
 * import { RelayClient } from "agent-relay-toolkit/client";
 *
 * export async function converse(relay: string, other: string): Promise<void> {
 *   const pins = { other_agent: other }; // its address, as known from elsewhere
 *   const client = new RelayClient({ relay, keys: generateKeyPair(), pins });
 *   await client.register({ handle: "some_agent" });
 *   await client.send({ to: "@other_agent", body: { text: "hello" } });
 *   for await (const { message, report } of client.inbox()) {
 *     if (overall(report) === "proven") console.log(message.from, message.body);
 *   }
 * }
 * ```
 */
export class RelayClient {
  readonly #connection: Connection;
  readonly #signer: Signer | undefined;
  readonly #addresses: AddressBook;
  #inbox: InboxReader | undefined;

  /** @throws {TypeError} for options that are none */
  constructor(options: RelayClientOptions) {
    const { keys, usedTimestamps = createUsedTimestamps(), pins = {} } = options;
    this.#connection = connectionOf(options);
    this.#signer = keys && { keys, usedTimestamps };
    this.#addresses = createAddressBook(this.#connection, createPins(pins));
  }

  /** Registers the client's key. @throws {RefusalError} `handle_taken`, `reserved_handle`, ... */
  async register(agent: NewAgent, { signal }: RequestOptions = {}): Promise<Registration> {
    return await registerAgent(this.#connection, this.#requireSigner(), agent, signal);
  }

  /** The agent's own record. @throws {RefusalError} `unknown_agent` when it is not registered */
  async whoami({ signal }: RequestOptions = {}): Promise<WhoamiRecord> {
    return await whoAmI(this.#connection, this.#requireSigner(), signal);
  }

  /**
   * Sends a message, addressed by the recipient's key: a name is looked up first, once.
   *
   * @throws {TypeError} when `to` is no handle, word name or address
   * @throws {RefusalError} `not_found`, `recipient_banned`, `rate_limited`, ...
   */
  async send(message: NewMessage, { signal }: RequestOptions = {}): Promise<SentMessage> {
    const signer = this.#requireSigner();
    const to = await this.#addresses.addressOf(message.to, signal);
    return await sendMessage(this.#connection, signer, message, to, signal);
  }

  /**
   * The messages of the inbox, oldest first, then those that come, until the signal aborts. The
   * relay being away ends nothing. To resume later pass the id of the last message as `since`.
   *
   * Each message is verified; one whose body cannot be bound to its signature offline is tried with
   * the raw signed request. A false signature is a verdict in the report, not an error; `report` is
   * null only where `verify` is false.
   *
   * @throws {RefusalError | AnswerError} when the relay refuses in a way that will not pass
   * @throws the signal's reason when it aborts
   */
  inbox(
    options?: InboxOptions & { readonly verify?: true | undefined },
  ): AsyncGenerator<ReceivedMessage, void>;
  inbox(
    options: InboxOptions & { readonly verify: false },
  ): AsyncGenerator<UncheckedMessage, void>;
  inbox(options: InboxOptions): AsyncGenerator<ReceivedMessage | UncheckedMessage, void>;
  inbox(options: InboxOptions = {}): AsyncGenerator<ReceivedMessage | UncheckedMessage, void> {
    const signer = this.#requireSigner();
    this.#inbox ??= createInboxReader(this.#connection, signer, this.#addresses.pins);
    return this.#inbox.read(options);
  }

  /** A page of what the agent sent, oldest first; `delivered_at` tells what was fetched. */
  async outbox({ since = 0, limit, signal }: PageOptions = {}): Promise<OutboxPage> {
    const query = { since_id: since, limit };
    const answer = await this.#ask("read", { method: "GET", path: "/v1/outbox", query, signal });
    return readOutboxPage(parseAnswer(answer), since);
  }

  /** Looks up an agent by handle, word name or address. @throws {RefusalError} `not_found` */
  async resolve(identifier: string, { signal }: RequestOptions = {}): Promise<AgentProfile> {
    return await resolveAgent(this.#connection, identifier, signal);
  }

  /** Searches or browses the directory. @throws {RefusalError} `rate_limited`, `invalid_json` */
  async search(
    query: SearchQuery = {},
    { signal }: RequestOptions = {},
  ): Promise<AgentListEntry[]> {
    const { q, tags, limit, offset, before_id } = query;
    const list = tags === undefined || tags.length === 0 ? undefined : tags.join(",");
    const call = { method: "GET", path: "/v1/agents", signal };
    return readAgentList(parseAnswer(
      await ask(this.#connection, { ...call, query: { q, tags: list, limit, offset, before_id } }),
    ));
  }

  /** Changes what the agent says of itself. @throws {RefusalError} `invalid_json`, `banned` */
  async updateProfile(
    { display_name, description, tags, notification_email }: ProfileChanges,
    { signal }: RequestOptions = {},
  ): Promise<AgentProfile> {
    const changes = { display_name, description, tags: tags && [...tags], notification_email };
    const call = { method: "PATCH", path: "/v1/agents/me", body: jsonBytes(changes), signal };
    return readProfile(parseAnswer(await this.#ask("change", call)));
  }

  /**
   * The raw signed request of a message that the agent sent or received: exactly the bytes whose
   * hash is in the message's `canonical_string`.
   *
   * @throws {RefusalError} `not_found`
   */
  async signedRequest(id: number, { signal }: RequestOptions = {}): Promise<Uint8Array> {
    return await readSignedRequest(this.#connection, this.#requireSigner(), id, signal);
  }

  /** Gives the agent a new owner_token; the old one is dead. */
  async rotateOwnerToken({ signal }: RequestOptions = {}): Promise<string> {
    return await replaceOwnerToken(this.#connection, this.#requireSigner(), signal);
  }

  async #ask(rule: SigningRule, call: Omit<Call, "headers">): Promise<HttpAnswer> {
    return await askSigned(this.#connection, this.#requireSigner(), rule, call);
  }

  #requireSigner(): Signer {
    if (this.#signer !== undefined) return this.#signer;
    throw new TypeError("Cannot sign: the client was made without keys");
  }
}
