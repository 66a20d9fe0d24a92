import { AddressError } from "./address_error.ts";
import { decodeAddress } from "./decode_address.ts";
import { isWordNameOf } from "./is_word_name_of.ts";
import { MessageError } from "./message_error.ts";
import { wordName } from "./word_name.ts";

/** The verifier: the agent whose inbox the message came from. */
export interface Recipient {
  /** Its address. */
  readonly address: string;
  /** Its handle, with or without a leading `@`. */
  readonly handle?: string;
  /** Its word name, needed only when it has extra adjectives; the short one is derived. */
  readonly wordName?: string;
}

/** The form in which a sender addressed a recipient. */
export type Addressee = "key" | "word-name" | "handle";

/** A recipient's address forms, checked and in their normal spelling. */
export interface RecipientForms {
  readonly address: string;
  readonly publicKey: Uint8Array;
  readonly handle: string | undefined;
  readonly wordName: string;
}

/** A handle in its normal spelling: one leading `@` removed, ASCII letters in lowercase. */
export function normalHandle(text: string): string | undefined {
  const match = /^@?([A-Za-z0-9_]{3,32})$/.exec(text);
  return match === null ? undefined : match[1]!.toLowerCase();
}

/**
 * Checks a recipient and completes its address forms.
 *
 * @throws {MessageError} `invalid_option` with `recipient.address`, `recipient.handle` or
 * `recipient.wordName`
 */
export function recipientForms(recipient: Recipient): RecipientForms {
  const { address, handle, wordName: name } = recipient;
  const publicKey = recipientKey(address);
  const normal = typeof handle === "string" ? normalHandle(handle) : undefined;
  if (handle != null && normal === undefined) {
    throw invalid("handle", "must be 3 to 32 of a-z, 0-9 and _, a leading @ allowed");
  }
  if (name != null && !(typeof name === "string" && isWordNameOf(name, publicKey))) {
    throw invalid("wordName", "is not a word name of the recipient's address");
  }
  return {
    address,
    publicKey,
    handle: normal,
    wordName: name?.toLowerCase() ?? wordName(publicKey),
  };
}

function recipientKey(address: string): Uint8Array {
  try {
    return decodeAddress(address);
  } catch (thrown) {
    const reason = thrown instanceof AddressError ? thrown.message : "it is not a string";
    throw invalid("address", `is no address: ${reason}`);
  }
}

function invalid(option: keyof Recipient, reason: string): MessageError {
  return new MessageError("invalid_option", `recipient.${option}`, reason);
}
