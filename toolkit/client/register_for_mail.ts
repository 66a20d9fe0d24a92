import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { signBytes } from "../ed25519_signer.ts";
import type { KeyPair } from "../generate_key_pair.ts";
import { answerReader, parseAnswer } from "./answer_reader.ts";
import { connectionOf, type ConnectionOptions } from "./connection.ts";
import { ask, jsonBytes } from "./exchange.ts";
import type { RequestOptions } from "./relay_client.ts";

/** What registration for mail gives: a receive-only trial org. @see service specification 4.7 */
export interface MailRegistration {
  readonly org_id: string;
  readonly agent_id: number;
  /** Secret; the relay shows it this once. */
  readonly api_key: string;
  readonly key_prefix: string;
  readonly trial: boolean;
  readonly expires_in_hours: number;
  readonly note: string;
}

/**
 * Registers a key for the mail area: POST /v1/mail/agents/register, signed over
 * `relay-mail:register:{public_key}:{timestamp}`.
 *
 * A key registers once. When an answer was lost, its api_key is lost too, and the relay says
 * `handle_taken`. The key is free again when the unused trial has been removed.
 *
 * @param label names the first API key, at most 100 characters
 * @throws {RefusalError} `mail_disabled`, `handle_taken`, `rate_limited`, `invalid_signature`, ...
 */
export async function registerForMail(
  options: ConnectionOptions & { readonly keys: KeyPair },
  label?: string,
  { signal }: RequestOptions = {},
): Promise<MailRegistration> {
  const { address, privateKey } = options.keys;
  const connection = connectionOf(options);
  const timestamp = Math.floor(connection.clock.now() / 1000);
  const signed = utf8ToBytes(`relay-mail:register:${address}:${timestamp}`);
  const signature = base64.encode(signBytes(signed, privateKey));
  const answer = await ask(connection, {
    method: "POST",
    path: "/v1/mail/agents/register",
    headers: () => ({ "Content-Type": "application/json" }),
    body: jsonBytes({ public_key: address, timestamp, signature, label }),
    signal,
  });
  const read = answerReader(parseAnswer(answer));
  return {
    org_id: read.string("org_id"),
    agent_id: read.integer("agent_id"),
    api_key: read.string("api_key"),
    key_prefix: read.string("key_prefix"),
    trial: read.boolean("trial"),
    expires_in_hours: read.integer("expires_in_hours"),
    note: read.string("note"),
  };
}
