import { normalHandle } from "../recipient.ts";
import { malformed, parseAnswer } from "./answer_reader.ts";
import type { HttpAnswer } from "./attempt.ts";
import { type Connection, type Failure, isFailure } from "./connection.ts";
import { exchange, jsonBytes } from "./exchange.ts";
import { readOwnerToken, readRegistration, readWhoami } from "./read_records.ts";
import type { Registration, WhoamiRecord } from "./records.ts";
import { RefusalError } from "./refusal_error.ts";
import { askSigned, type Signer, signing } from "./signing.ts";

/** What an agent says of itself when it registers. */
export interface NewAgent {
  /** 3 to 32 of a-z, 0-9 and _; a leading `@` allowed. Permanent. */
  readonly handle: string;
  /** At most 100 characters. */
  readonly display_name?: string;
  /** At most 500 characters. */
  readonly description?: string;
  /** At most 10, each 1 to 32 of a-z, 0-9 and -. */
  readonly tags?: readonly string[];
}

/**
 * Registers the signer's key: POST /v1/register, signed as proof that the key is the caller's.
 *
 * When an answer was lost, the key may already be registered under this handle. The lost
 * owner_token is then replaced by a new one.
 *
 * @throws {RefusalError} `invalid_handle`, `reserved_handle`, `handle_taken`, `rate_limited`, ...
 */
export async function registerAgent(
  connection: Connection,
  signer: Signer,
  agent: NewAgent,
  signal?: AbortSignal,
): Promise<Registration> {
  const { handle, display_name, description, tags } = agent;
  const { address } = signer.keys;
  const request = { handle, pubkey: address, display_name, description, tags: tags && [...tags] };
  const call = {
    method: "POST",
    path: "/v1/register",
    body: jsonBytes(request),
    signal,
  };
  const headers = signing(connection, signer, "change", call);
  const { result, isUnclear } = await exchange(connection, { ...call, headers });
  if (!isFailure(result)) return ownRegistration(result, address, handle);
  if (!isUnclear || !mayHideSuccess(result)) throw result;
  const own = await ownRecord(connection, signer, signal);
  if (own === undefined || own.handle !== normalHandle(handle)) throw result;
  const owner_token = await replaceOwnerToken(connection, signer, signal);
  return { address, handle: own.handle, word_name: own.word_name, owner_token };
}

/** The two refusals that a relay may give to a registration that it has made before. */
function mayHideSuccess(failure: Failure): boolean {
  return failure instanceof RefusalError &&
    (failure.code === "handle_taken" || failure.code === "rate_limited");
}

function ownRegistration(answer: HttpAnswer, address: string, handle: string): Registration {
  const registration = readRegistration(parseAnswer(answer));
  if (registration.address !== address) throw malformed("names another address");
  if (registration.handle !== normalHandle(handle)) throw malformed("names another handle");
  return registration;
}

/** The record of the signer's own agent; undefined when its key is not registered. */
async function ownRecord(
  connection: Connection,
  signer: Signer,
  signal: AbortSignal | undefined,
): Promise<WhoamiRecord | undefined> {
  try {
    return await whoAmI(connection, signer, signal);
  } catch (thrown) {
    if (thrown instanceof RefusalError && thrown.code === "unknown_agent") return undefined;
    throw thrown;
  }
}

/**
 * The signer's own record: GET /v1/whoami.
 *
 * @throws {RefusalError} `unknown_agent` when the key is not registered
 */
export async function whoAmI(
  connection: Connection,
  signer: Signer,
  signal?: AbortSignal,
): Promise<WhoamiRecord> {
  const call = { method: "GET", path: "/v1/whoami", signal };
  const record = readWhoami(parseAnswer(await askSigned(connection, signer, "read", call)));
  if (record.address !== signer.keys.address) throw malformed("names another address");
  return record;
}

/**
 * Replaces the owner_token: POST /v1/owner-token. A lost answer lost a token, so each try asks for
 * one of its own.
 *
 * @returns the new token; the old one is dead
 */
export async function replaceOwnerToken(
  connection: Connection,
  signer: Signer,
  signal?: AbortSignal,
): Promise<string> {
  const call = { method: "POST", path: "/v1/owner-token", signal };
  return readOwnerToken(parseAnswer(await askSigned(connection, signer, "anew", call)));
}
