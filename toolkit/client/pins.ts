import { decodeAddress } from "../decode_address.ts";
import type { InboxMessage } from "../inbox_message.ts";
import { isWordNameOf } from "../is_word_name_of.ts";
import { parseIdentifier } from "./identifier.ts";

/**
 * Known agents: handles and word names, in any spelling, with the address that each stands for. A
 * key that is pinned by itself stands for its own address.
 */
export type PinnedAddresses = Readonly<Record<string, string>>;

/** What a relay says of a sender. */
export type ClaimedSender = Pick<InboxMessage, "from" | "from_handle" | "from_word_name">;

/** {@linkcode PinnedAddresses}, checked, in one spelling. */
export interface Pins {
  /** The address that a handle or word name, in any spelling, is pinned to. */
  addressOf(name: string): string | undefined;
  /** Whether a key is pinned by itself. */
  hasKey(address: string): boolean;
  /**
   * The address that a sender must have: the one that its handle or its word name is pinned to. If
   * neither is and its key is pinned by itself, its own address. If two pins differ, the one that
   * it contradicts.
   *
   * A key that is pinned by another name than the relay shows is not expected: its name would be
   * the relay's word alone.
   */
  expectedSender(sender: ClaimedSender): string | undefined;
}

/**
 * Checks pins and brings them into one spelling.
 *
 * @throws {TypeError} for what is no name or address, and for a word name that its address does not
 * derive. Also for two spellings of a name with different addresses
 */
export function createPins(pinned: PinnedAddresses): Pins {
  const byName = new Map<string, string>();
  const keys = new Set<string>();
  for (const [name, address] of Object.entries(pinned)) {
    const { form, text } = checkedPin(name, address);
    if (form === "address") {
      keys.add(text);
    } else if ((byName.get(text) ?? address) === address) {
      byName.set(text, address);
    } else {
      throw new TypeError("Cannot pin a name to two addresses");
    }
  }
  const addressOf = (name: string) => byName.get(normalSpelling(name));
  const hasKey = (address: string) => keys.has(address);
  return {
    addressOf,
    hasKey,
    expectedSender({ from, from_handle, from_word_name }) {
      const named = [addressOf(from_handle), addressOf(from_word_name)]
        .filter((address) => address !== undefined);
      return named.find((address) => address !== from) ?? named[0] ??
        (hasKey(from) ? from : undefined);
    },
  };
}

/**
 * Checks one pin.
 *
 * @returns the name in its normal spelling, and its form
 * @throws {TypeError} as {@linkcode createPins}
 */
export function checkedPin(name: string, address: string): ReturnType<typeof parseIdentifier> {
  const identifier = parseIdentifier(name);
  if (parseIdentifier(address).form !== "address") {
    throw new TypeError("Cannot pin a name to another name: pin it to an address");
  }
  if (identifier.form === "address" && identifier.text !== address) {
    throw new TypeError("Cannot pin an address to another one");
  }
  const isOther = identifier.form === "word_name" &&
    !isWordNameOf(identifier.text, decodeAddress(address));
  if (isOther) throw new TypeError("Cannot pin a word name to an address that does not derive it");
  return identifier;
}

/** A text that is no identifier is its own spelling: nothing is pinned under it. */
function normalSpelling(name: string): string {
  try {
    return parseIdentifier(name).text;
  } catch {
    return name;
  }
}
