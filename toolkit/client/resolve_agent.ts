import { malformed, parseAnswer } from "./answer_reader.ts";
import type { Connection } from "./connection.ts";
import { ask } from "./exchange.ts";
import { type Identifier, parseIdentifier } from "./identifier.ts";
import type { Pins } from "./pins.ts";
import { readProfile } from "./read_records.ts";
import type { AgentProfile } from "./records.ts";

/**
 * Looks up an agent: GET /v1/agents/{identifier}.
 *
 * What can be told offline is checked: a key resolves to itself, a word name to a key that derives
 * it. Which key a handle belongs to is the relay's word.
 *
 * @param identifier a handle, a word name or an address
 * @throws {TypeError} when it is none of them
 * @throws {RefusalError} `not_found`
 * @throws {AnswerError} `malformed_answer` for another agent than the one asked for
 */
export async function resolveAgent(
  connection: Connection,
  identifier: string,
  signal?: AbortSignal,
): Promise<AgentProfile> {
  const asked = parseIdentifier(identifier);
  const path = `/v1/agents/${asked.text}`;
  const profile = readProfile(parseAnswer(await ask(connection, { method: "GET", path, signal })));
  if (named(profile, asked) !== asked.text) throw malformed(`names another ${asked.form}`);
  return profile;
}

function named(profile: AgentProfile, { form }: Identifier): string {
  return form === "handle" ? profile.handle : profile[form];
}

/** The known addresses of agents. */
export interface AddressBook {
  readonly pins: Pins;
  /** Pinned, found before, or asked for now. An address is its own. @throws as resolveAgent */
  addressOf(identifier: string, signal?: AbortSignal): Promise<string>;
}

/** Keeps addresses: a relay can give a handle's key wrongly only once, and never one that is pinned. */
export function createAddressBook(connection: Connection, pins: Pins): AddressBook {
  const known = new Map<string, string>();
  return {
    pins,
    async addressOf(identifier, signal) {
      const { form, text } = parseIdentifier(identifier);
      if (form === "address") return text;
      const before = pins.addressOf(text) ?? known.get(text);
      if (before !== undefined) return before;
      const { address } = await resolveAgent(connection, text, signal);
      // A handle is permanent: of two look-ups at once the first answer stays.
      if (!known.has(text)) known.set(text, address);
      return known.get(text)!;
    },
  };
}
