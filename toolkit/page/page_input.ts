import { listedMessages, MAX_LIST_DEPTH } from "../listed_messages.ts";
import { type JsonValue, parseStrict, type Recipient, type VerifyMessageOptions } from "../mod.ts";

/** What a person filled in; every text as it was typed. */
export interface PageFields {
  readonly message: string;
  readonly address: string;
  readonly handle: string;
  readonly wordName: string;
  readonly from: string;
  readonly maxSkew: string;
  /** The raw bytes of the signed request, or undefined. */
  readonly request: Uint8Array | undefined;
}

/** The name of a field that a person can fill in. */
export type PageField = keyof PageFields;

/** Thrown for what was filled in wrongly; the message is a sentence for the person who did. */
export class PageInputError extends Error {
  override readonly name = "PageInputError";

  constructor(readonly field: PageField, words: string) {
    super(words);
  }
}

/** What is to be checked, and against what. */
export interface PageInput {
  /** Values that should be messages. */
  readonly messages: readonly JsonValue[];
  readonly options: VerifyMessageOptions;
}

/**
 * Reads what a person filled in: one message, an array of them, or the inbox's whole answer.
 *
 * @throws {PageInputError} for text that is not strict JSON, a list without messages, a field that
 * lacks another one, and a number that is none
 */
export function readPageInput(fields: PageFields): PageInput {
  return {
    messages: messagesIn(fields.message),
    options: {
      recipient: recipientIn(fields),
      from: filled(fields.from),
      maxSkewSeconds: secondsIn(fields.maxSkew),
      request: fields.request,
    },
  };
}

function messagesIn(text: string): readonly JsonValue[] {
  if (text.trim() === "") {
    throw new PageInputError("message", "Paste a message, as the relay's inbox gives it.");
  }
  let value: JsonValue;
  try {
    value = parseStrict(text.trim(), { maxDepth: MAX_LIST_DEPTH });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PageInputError("message", `This is not the JSON of a message: ${reason}.`);
  }
  const messages = listedMessages(value) ?? [value];
  if (messages.length > 0) return messages;
  throw new PageInputError("message", "The list has no message.");
}

function recipientIn({ address, handle, wordName }: PageFields): Recipient | undefined {
  const key = filled(address);
  if (key !== undefined) {
    return { address: key, handle: filled(handle), wordName: filled(wordName) };
  }
  if (filled(handle) === undefined && filled(wordName) === undefined) return undefined;
  throw new PageInputError(
    "address",
    "A handle or a word name needs the recipient's address beside it: that is what they stand for.",
  );
}

function secondsIn(text: string): number | undefined {
  const seconds = filled(text);
  if (seconds === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(seconds)) return Number(seconds);
  throw new PageInputError("maxSkew", "Enter a number of seconds from 0, such as 300.");
}

function filled(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === "" ? undefined : trimmed;
}
