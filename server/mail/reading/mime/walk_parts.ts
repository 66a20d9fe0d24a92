/**
 * The parts of a message (RFC 2046), as places in its bytes: nothing is copied or decoded. One pass
 * over the lines, whatever they hold; what goes beyond a limit ends the walk with a warning.
 */
import { fieldValue, type HeaderField, readFields, withoutLineEnd } from "./header_fields.ts";
import { firstMessageId } from "./message_ids.ts";
import { parseParameters, type ValueWithParameters } from "./parameters.ts";
import type { ParseWarning } from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";

export interface MailPart {
  fields: readonly HeaderField[];
  /** Lowercased type; what has none, or none of the form, is text/plain (RFC 2045, section 5.2). */
  contentType: string;
  parameters: ReadonlyMap<string, string>;
  disposition: ValueWithParameters | null;
  /** Content-Transfer-Encoding, lowercased, without comments; "" without one. */
  encoding: string;
  /** Without brackets; null where it has none. */
  contentId: string | null;
  /** Bytes of the body; the line end before a boundary is not of them. */
  start: number;
  end: number;
  /** Whether its body was read as parts. */
  isMultipart: boolean;
  /** How many multiparts it lies in; 0 for the message itself. */
  depth: number;
}

export interface WalkLimits {
  /** Parts, multiparts included, the message itself not. */
  parts: number;
  /** Multiparts inside each other. */
  depth: number;
}

/** Bytes of all headers together (docs/mail.md, "What could not be read"). */
export const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** What is looked at between two moments at which others may run. */
const LINES_A_SLICE = 2_048;
/** Bytes. */
const USUAL_LINE = 128;
/** RFC 2046 allows 70; some write more. */
const MAX_BOUNDARY = 250;
const [TAB, LF, CR, SPACE, DASH] = [0x09, 0x0a, 0x0d, 0x20, 0x2d];
const TYPE = /^[!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+$/;

interface OpenMultipart {
  /** Its bytes as Latin-1. */
  boundary: string;
  part: MailPart;
}

/**
 * The message itself, then its parts in their order.
 * @param warnings gets `too_many_parts`, `nested_too_deep`, `headers_too_large`, `broken_structure`,
 *   `unknown_charset`
 */
export function* walkParts(
  raw: Uint8Array,
  limits: WalkLimits,
  warnings: Set<ParseWarning>,
): Sliced<MailPart[]> {
  const open: OpenMultipart[] = [];
  let boundaries = indexBoundaries(open);
  const parts: MailPart[] = [];
  let headBytes = 0;
  /** The part whose body is being read; null in what stands before, between and after parts. */
  let current: MailPart | null = null;

  /** Reads the headers of a part. @returns where its body begins; -1 where the walk ends */
  function* begin(start: number): Sliced<number> {
    const head = yield* readHead(raw, start, boundaries);
    const size = head.bodyStart - start;
    const isTooLarge = headBytes + size > MAX_HEAD_BYTES;
    if (isTooLarge) warnings.add("headers_too_large");
    if (isTooLarge && parts.length > 0) return -1;
    const end = Math.min(head.end, start + MAX_HEAD_BYTES);
    const parent = open.at(-1)?.part;
    const part = partOf(raw, yield* readFields(raw, start, end), parent, warnings);
    headBytes += size;
    // If no line is a field, the lines are a body whose headers were forgotten.
    const hasHeaders = part.fields.length > 0 || head.end === start;
    part.start = part.end = hasHeaders ? head.bodyStart : start;
    // So is what follows the last field where no empty line parts them.
    const lastEnd = part.fields.at(-1)?.end ?? raw.length;
    if (head.end === raw.length && lastEnd < raw.length) {
      part.start = part.end = Math.min(raw.length, raw.indexOf(LF, lastEnd) + 1 || raw.length);
    }
    parts.push(part);
    if (isTooLarge) return -1;
    current = part;
    if (part.contentType.startsWith("multipart/")) openMultipart(part);
    return part.start;
  }

  function openMultipart(part: MailPart): void {
    const boundary = utf8AsLatin1(part.parameters.get("boundary") ?? "");
    if (boundary.length === 0 || boundary.length > MAX_BOUNDARY) {
      warnings.add("broken_structure");
      part.contentType = "text/plain"; // RFC 2045, section 5.2: its header is not of the form
      return;
    }
    if (open.length >= limits.depth) {
      warnings.add("nested_too_deep");
    } else {
      open.push({ boundary, part });
      boundaries = indexBoundaries(open);
    }
    part.isMultipart = true;
    current = null;
  }

  let at = yield* begin(0);
  for (let lines = 1; at >= 0 && at < raw.length; lines++) {
    if (lines % LINES_A_SLICE === 0) yield null;
    const next = nextLine(raw, at);
    const found = delimiterAt(raw, at, next, boundaries);
    if (found === null) {
      at = next;
      continue;
    }
    endPart(raw, current, at);
    current = null;
    if (open.length - 1 > found.level) warnings.add("broken_structure");
    open.length = found.isClose ? found.level : found.level + 1;
    boundaries = indexBoundaries(open);
    at = next;
    if (found.isClose) continue;
    // The message itself is not counted.
    if (parts.length > limits.parts) {
      warnings.add("too_many_parts");
      return parts;
    }
    at = yield* begin(next);
  }
  if (at >= 0) {
    if (current !== null) (current as MailPart).end = raw.length;
    if (open.length > 0) warnings.add("broken_structure");
  }
  return parts;
}

/** A body ends before the line end in front of a boundary, which belongs to the boundary. */
function endPart(raw: Uint8Array, part: MailPart | null, boundaryAt: number): void {
  if (part === null) return;
  part.end = Math.max(part.start, withoutLineEnd(raw, part.start, boundaryAt));
}

function partOf(
  raw: Uint8Array,
  fields: HeaderField[],
  parent: MailPart | undefined,
  warnings: Set<ParseWarning>,
): MailPart {
  const first = (name: string) => {
    const field = fields.find((field) => field.name === name);
    return field && fieldValue(raw, field, () => warnings.add("unknown_charset"));
  };
  const type = parseParameters(first("content-type") ?? "");
  const isGiven = TYPE.test(type.value);
  // RFC 2046, section 5.1.5.
  const isDigest = type.value === "" && parent?.contentType === "multipart/digest";
  const disposition = first("content-disposition");
  const contentId = first("content-id");
  return {
    fields,
    contentType: isGiven ? type.value : isDigest ? "message/rfc822" : "text/plain",
    parameters: type.parameters,
    disposition: disposition === undefined ? null : parseParameters(disposition),
    contentId: contentId === undefined ? null : firstMessageId([contentId]),
    encoding: parseParameters(first("content-transfer-encoding") ?? "").value,
    start: 0,
    end: 0,
    isMultipart: false,
    depth: parent === undefined ? 0 : parent.depth + 1,
  };
}

/** Where the headers from here on end, and the body begins: at an empty line or a boundary. */
function* readHead(
  raw: Uint8Array,
  start: number,
  boundaries: Boundaries,
): Sliced<{ end: number; bodyStart: number }> {
  for (let [at, lines] = [start, 1]; at < raw.length; lines++) {
    if (lines % LINES_A_SLICE === 0) yield null;
    const next = nextLine(raw, at);
    if (raw[at] === LF || (raw[at] === CR && raw[at + 1] === LF)) {
      return { end: at, bodyStart: next };
    }
    if (delimiterAt(raw, at, next, boundaries) !== null) return { end: at, bodyStart: at };
    at = next;
  }
  return { end: raw.length, bodyStart: raw.length };
}

/** Behind the next LF. A CR alone ends no line: other readers of mail would not see it end there. */
function nextLine(raw: Uint8Array, from: number): number {
  // A search by the runtime is dear to begin: most lines are short.
  const near = Math.min(raw.length, from + USUAL_LINE);
  for (let at = from; at < near; at++) if (raw[at] === LF) return at + 1;
  const at = raw.indexOf(LF, near);
  return at < 0 ? raw.length : at + 1;
}

/** Boundaries of open multiparts, so that a line is compared once, however many there are. */
interface Boundaries {
  /** The innermost level of each. */
  levels: ReadonlyMap<string, number>;
  /** 1 for each length that a boundary has, or has with the `--` that closes it. */
  lengths: Uint8Array;
}

function indexBoundaries(open: readonly OpenMultipart[]): Boundaries {
  const lengths = new Uint8Array(MAX_BOUNDARY + 3);
  for (const { boundary } of open) lengths[boundary.length] = lengths[boundary.length + 2] = 1;
  return { levels: new Map(open.map(({ boundary }, level) => [boundary, level])), lengths };
}

/**
 * Which open multipart a line delimits: one that was never closed ends with those around it (RFC
 * 2046, section 5.1.2).
 */
function delimiterAt(
  raw: Uint8Array,
  start: number,
  next: number,
  { levels, lengths }: Boundaries,
): { level: number; isClose: boolean } | null {
  if (levels.size === 0 || raw[start] !== DASH || raw[start + 1] !== DASH) return null;
  let end = next;
  // Transports may add white space (RFC 2046, section 5.1.1).
  while (end > start && isPadding(raw[end - 1]!)) end--;
  const length = end - start - 2;
  if (length <= 0 || length >= lengths.length || lengths[length] === 0) return null;
  const line = String.fromCharCode(...raw.subarray(start + 2, end));
  const level = levels.get(line);
  if (level !== undefined) return { level, isClose: false };
  const closed = line.endsWith("--") ? levels.get(line.slice(0, -2)) : undefined;
  return closed === undefined ? null : { level: closed, isClose: true };
}

function utf8AsLatin1(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text.slice(0, MAX_BOUNDARY + 1)));
}

function isPadding(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}
