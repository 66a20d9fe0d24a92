/** An agent of a test: a key pair, and signed calls to one relay by the relay's movable clock. */
import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import {
  canonicalJson,
  canonicalString,
  generateKeyPair,
  type JsonValue,
  type KeyPair,
} from "../../toolkit/mod.ts";
import { type Answer, ask, assertStatus } from "./answer.ts";
import type { TestRelay } from "./relay.ts";

/** The relay that an agent calls: the members of TestRelay that it needs. */
export type Target = Pick<TestRelay, "url" | "clock">;

/** JSON is sent as RFC 8785 bytes; a string or bytes exactly as they are. */
export type Payload = { [name: string]: JsonValue } | string | Uint8Array<ArrayBuffer>;

export interface CallOptions {
  /** Without "?". */
  query?: string;
  body?: Payload;
  /** Unix seconds, or any text to send in its place; the clock's now unless given. */
  timestamp?: number;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const encoder = new TextEncoder();

export function toBytes(payload: Payload | undefined): Uint8Array<ArrayBuffer> {
  if (payload === undefined) return new Uint8Array(0);
  if (payload instanceof Uint8Array) return payload;
  return encoder.encode(typeof payload === "string" ? payload : canonicalJson(payload));
}

/** What stands before the seed in an Ed25519 private key of PKCS #8 (RFC 8410, 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const nativeKeys = new WeakMap<KeyPair, KeyObject>();

/** The platform's form of a key: it signs the same bytes as the toolkit, thirty times as fast. */
function nativeKeyOf(keys: KeyPair): KeyObject {
  let key = nativeKeys.get(keys);
  if (key === undefined) {
    const pkcs8 = Buffer.concat([PKCS8_PREFIX, keys.privateKey]);
    nativeKeys.set(keys, key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }));
  }
  return key;
}

export class TestAgent {
  readonly keys: KeyPair;
  handle = "";
  wordName = "";
  ownerToken = "";
  readonly #used = new Set<string>();

  constructor(private readonly target: Target, keys: KeyPair = generateKeyPair()) {
    this.keys = keys;
  }

  get address(): string {
    return this.keys.address;
  }

  /** The same agent at another relay, such as a later one on the same store. */
  at(target: Target): TestAgent {
    const agent = new TestAgent(target, this.keys);
    agent.handle = this.handle;
    agent.wordName = this.wordName;
    agent.ownerToken = this.ownerToken;
    return agent;
  }

  /** The signature headers of a request, over exactly these bytes. */
  sign(
    method: string,
    path: string,
    body: Uint8Array = new Uint8Array(0),
    timestamp = this.target.clock.seconds(),
  ): Record<string, string> {
    const signed = encoder.encode(canonicalString({ method, path, body, timestamp }));
    return {
      "X-Relay-Pubkey": this.address,
      "X-Relay-Timestamp": String(timestamp),
      "X-Relay-Signature": sign(null, signed, nativeKeyOf(this.keys)).toString("base64"),
    };
  }

  /**
   * The smallest timestamp from now on that was not used for this request, so that it is a new
   * message.
   */
  unusedTimestamp(body: Uint8Array): number {
    const name = (timestamp: number) => `${timestamp}/${new TextDecoder("latin1").decode(body)}`;
    let timestamp = this.target.clock.seconds();
    while (this.#used.has(name(timestamp))) timestamp++;
    this.#used.add(name(timestamp));
    return timestamp;
  }

  /** A signed request. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const body = toBytes(options.body);
    const query = options.query === undefined ? "" : `?${options.query}`;
    return await ask(`${this.target.url}${path}${query}`, {
      method,
      headers: { ...this.sign(method, path, body, options.timestamp), ...options.headers },
      ...(options.body === undefined ? {} : { body }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }

  /** A request with a bearer token, the agent's own unless given. */
  async bearer(
    method: string,
    path: string,
    options: Omit<CallOptions, "timestamp"> & { token?: string } = {},
  ): Promise<Answer> {
    const query = options.query === undefined ? "" : `?${options.query}`;
    return await ask(`${this.target.url}${path}${query}`, {
      method,
      headers: {
        Authorization: `Bearer ${options.token ?? this.ownerToken}`,
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: toBytes(options.body) }),
    });
  }

  /** Sends a message. Equal messages are different ones, as no timestamp is used twice. */
  async send(request: Payload, options: Omit<CallOptions, "body"> = {}): Promise<Answer> {
    const body = toBytes(request);
    const timestamp = options.timestamp ?? this.unusedTimestamp(body);
    return await this.call("POST", "/v1/messages", { ...options, body, timestamp });
  }

  /** Sends a message that must be accepted. @returns the message's id */
  async sent(request: Payload): Promise<number> {
    const answer = await this.send(request);
    assertStatus(answer, 201);
    return answer.json.id;
  }

  /** An inbox poll by signature. */
  async poll(query?: string): Promise<Answer> {
    return await this.call("GET", "/v1/inbox", { query });
  }

  /**
   * The messages of a poll that must be accepted. First moves the clock beyond the shortest poll
   * interval.
   */
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  async inbox(query?: string): Promise<any[]> {
    this.target.clock.advance(2000);
    const answer = await this.poll(query);
    assertStatus(answer, 200);
    return answer.json.messages;
  }

  /** The messages of the outbox. */
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  async outbox(query?: string): Promise<any[]> {
    const answer = await this.call("GET", "/v1/outbox", { query });
    assertStatus(answer, 200);
    return answer.json.messages;
  }

  /** Asks for registration, unsigned, with these fields besides handle and pubkey. */
  async askToRegister(
    fields: { [name: string]: JsonValue } = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const body = canonicalJson({ pubkey: this.address, ...fields });
    return await register(this.target, body, headers);
  }
}

/** POST /v1/register with a body as it is. */
export async function register(
  target: Pick<Target, "url">,
  body: Payload,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return await ask(`${target.url}/v1/register`, { method: "POST", body: toBytes(body), headers });
}

/** A registered agent with a new key. */
export async function registerAgent(
  target: Target,
  handle: string,
  options: { profile?: { [name: string]: JsonValue }; keys?: KeyPair } = {},
): Promise<TestAgent> {
  const agent = new TestAgent(target, options.keys);
  const answer = await agent.askToRegister({ handle, ...options.profile });
  assertStatus(answer, 201);
  agent.handle = answer.json.handle;
  agent.wordName = answer.json.word_name;
  agent.ownerToken = answer.json.owner_token;
  return agent;
}

/** Several registered agents; the relay must allow that many from one address. */
export async function registerAgents<const H extends readonly string[]>(
  target: Target,
  ...handles: H
): Promise<{ [K in keyof H]: TestAgent }> {
  const agents: TestAgent[] = [];
  for (const handle of handles) agents.push(await registerAgent(target, handle));
  return agents as { [K in keyof H]: TestAgent };
}
