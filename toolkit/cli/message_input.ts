import { joinBytes } from "../join_bytes.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { listedMessages, MAX_LIST_DEPTH } from "../listed_messages.ts";
import { parseStrict } from "../parse_strict.ts";
import { InputError } from "./failure.ts";

/** One entry of an input: a value that should be a message, or why it is not even JSON. */
export type InputEntry =
  | { readonly value: JsonValue }
  | { readonly error: JsonError };

/** What an input turned out to be. */
export interface MessageInput {
  /** False for one message alone. */
  readonly isBatch: boolean;
  readonly entries: AsyncIterable<InputEntry> | Iterable<InputEntry>;
}

const LINE_FEED = 0x0a;
const SPACES = new Set([0x20, 0x09, LINE_FEED, 0x0d]);
const LEFT_BRACKET = 0x5b;

/**
 * Recognises an input: one message, an array of messages, `{"messages":[...]}`, or one message a
 * line (NDJSON), in this order. One message a line is read as a stream, the others whole.
 *
 * @param chunks the input
 * @throws {InputError} for an empty input, an empty list, or one document that is not strict JSON
 */
export async function readMessages(chunks: AsyncIterable<Uint8Array>): Promise<MessageInput> {
  const lines = readLines(chunks);
  const seen: Uint8Array[] = [];
  let first: InputEntry | undefined;
  let isList = false;
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const line = next.value;
    seen.push(line);
    if (!isFilled(line)) continue;
    if (first === undefined) {
      first = parseEntry(line);
      isList = line.find((byte) => !SPACES.has(byte)) === LEFT_BRACKET;
      // A part of something: of a document of several lines, or a broken message.
      const mayGoOn = "error" in first && (isList || first.error.position?.offset === line.length);
      if (mayGoOn) break;
    } else if ("value" in first || isObject(parseEntry(line))) {
      return { isBatch: true, entries: following(seen.filter(isFilled).map(parseEntry), lines) };
    }
  }
  if (first === undefined) throw new InputError("malformed: the input is empty, it has no message");
  for await (const line of lines) seen.push(line);
  return wholeInput(seen, isList);
}

/** Cuts a stream of bytes into lines, each with its line feed; memory holds one line at a time. */
async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pending.push(chunk.subarray(start, end + 1));
      yield joinBytes(pending);
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.slice(start));
  }
  if (pending.length > 0) yield joinBytes(pending);
}

/** An input whose lines do not make sense by themselves, or that has only one. */
function wholeInput(lines: readonly Uint8Array[], isList: boolean): MessageInput {
  const document = parseEntry(joinBytes(lines));
  if ("error" in document) {
    const entries = lines.filter(isFilled).map(parseEntry);
    if (!isList && entries.some(isObject)) return { isBatch: true, entries };
    throw new InputError(`malformed: the input is not strict JSON: ${document.error.message}`);
  }
  const list = listedMessages(document.value);
  if (list?.length === 0) throw new InputError("malformed: the list has no message");
  return list === undefined
    ? { isBatch: false, entries: [document] }
    : { isBatch: true, entries: list.map((value) => ({ value })) };
}

async function* following(
  entries: readonly InputEntry[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<InputEntry, void> {
  yield* entries;
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    if (isFilled(next.value)) yield parseEntry(next.value);
  }
}

function parseEntry(text: Uint8Array): InputEntry {
  try {
    return { value: parseStrict(text, { maxDepth: MAX_LIST_DEPTH }) };
  } catch (error) {
    if (error instanceof JsonError) return { error };
    throw error;
  }
}

function isObject(entry: InputEntry): boolean {
  return "value" in entry && typeof entry.value === "object" && entry.value !== null &&
    !Array.isArray(entry.value);
}

function isFilled(line: Uint8Array): boolean {
  return line.some((byte) => !SPACES.has(byte));
}
