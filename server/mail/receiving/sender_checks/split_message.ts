/**
 * Makes of a mail what the library checks in linear time: line ends CRLF, no more signatures than are
 * checked, ARC fields apart, which it would verify and count as signatures. Pure; part of the worker.
 */
import { Buffer } from "node:buffer";
import { ARC_NAMES, type ArcField } from "./arc_chain.ts";
import { readSignatureTags, type SignatureTags } from "./signature_tags.ts";
import { SINGLE_FIELDS } from "../../reading/mime/single_fields.ts";

export interface SplitMessage {
  /** The header up to and with its empty line, for some of its signatures. */
  headWith: (signatures: readonly SignedField[]) => Uint8Array<ArrayBuffer>;
  /** With CRLF alone at the ends of lines. */
  body: Uint8Array;
  /** The header as it stands, with CRLF at the ends of lines; no more of it than is looked through. */
  head: Uint8Array;
  /** Values of all From fields, unfolded; a byte is a character. */
  from: string[];
  /** Whether a field that tells what the mail is, or who wrote to whom, stands in it more than once. */
  hasDoubledField: boolean;
  /** DKIM-Signature fields that can be checked; none where the header is too much for the library. */
  signatures: SignedField[];
  /** The fields of ARC, from the top; null where the header is too much for the library. */
  arc: ArcField[] | null;
  /** The header with these, and no other signatures. */
  arcHead: () => Uint8Array<ArrayBuffer>;
  /** How many of the checked fields cannot: malformed, too long, or of a header that is too large. */
  unchecked: number;
}

/** A DKIM-Signature field in its place. */
export interface SignedField extends SignatureTags {
  /** Place among the fields of the header. */
  index: number;
}

export interface SplitBounds {
  /** The library takes time that grows with the square of the lines of a header. */
  headBytes: number;
  headLines: number;
  /** How many signatures are checked: the uppermost, which are the newest. */
  signatures: number;
  /** Length of From and of Content-Type. */
  fieldCharacters: number;
}

export const SPLIT_BOUNDS: SplitBounds = {
  headBytes: 512 * 1024,
  headLines: 5_000,
  signatures: 10,
  fieldCharacters: 8 * 1024,
};

/** Beyond this no From is looked for. */
const MAX_SCANNED_HEAD_BYTES = 2 * 1024 * 1024;
const CR = 13;
const LF = 10;

export function splitMessage(raw: Uint8Array, bounds: SplitBounds): SplitMessage {
  const message = withCrlf(raw);
  const headBytes = endOfHead(message);
  const scanned = message.subarray(0, Math.min(headBytes, MAX_SCANNED_HEAD_BYTES));
  const text = latin1(scanned);
  const lines = text.slice(0, text.length - endingBytes(text)).split("\r\n");
  const fields: { name: string; text: string }[] = [];
  for (let i = 0; i < lines.length;) {
    const first = i++;
    // As the library folds: \s over text with one character for each byte.
    while (i < lines.length && /^\s/.test(lines[i]!)) i++;
    fields.push({ name: fieldName(lines[first]!), text: lines.slice(first, i).join("\r\n") });
  }
  const from = fields.filter(({ name }) => name === "from").map(({ text }) => valueOf(text));
  const hasDoubledField = SINGLE_FIELDS.some((single) =>
    fields.filter(({ name }) => name === single).length > 1
  );
  const isTooMuch = headBytes > bounds.headBytes || lines.length > bounds.headLines ||
    /\r(?!\n)/.test(text) ||
    fields.some(({ name, text }) =>
      (name === "from" || name === "content-type") && text.length > bounds.fieldCharacters
    );
  const signatures: SignedField[] = [];
  let unchecked = 0;
  for (const [index, { name, text }] of fields.entries()) {
    if (name !== "dkim-signature") continue;
    if (signatures.length + unchecked >= bounds.signatures) break;
    const tags = isTooMuch ? null : readSignatureTags(valueOf(text));
    if (tags === null) unchecked++;
    else signatures.push({ ...tags, index });
  }
  const arc = fields.flatMap(({ name, text }) =>
    isArc(name) ? [{ name, value: valueOf(text) }] : []
  );
  const arcHead = () => {
    const kept = fields.filter(({ name }) => name !== "dkim-signature");
    return latin1Bytes(`${kept.map(({ text }) => text).join("\r\n")}\r\n\r\n`);
  };
  const headWith = (chosen: readonly SignedField[]) => {
    const places = new Set(chosen.map(({ index }) => index));
    const kept = fields.filter(({ name }, index) =>
      name === "dkim-signature" ? places.has(index) : !name.startsWith("arc-")
    );
    return latin1Bytes(`${kept.map(({ text }) => text).join("\r\n")}\r\n\r\n`);
  };
  return {
    headWith,
    body: message.subarray(headBytes),
    head: scanned,
    from,
    hasDoubledField,
    signatures,
    arc: isTooMuch && arc.length > 0 ? null : arc,
    arcHead,
    unchecked,
  };
}

/** The message itself where all its lines end with CRLF, else a copy whose lines do. */
function withCrlf(raw: Uint8Array): Uint8Array {
  let bare = 0;
  for (let i = 0; i < raw.length; i++) {
    if (raw[i] === LF && raw[i - 1] !== CR) bare++;
  }
  if (bare === 0) return raw;
  const message = new Uint8Array(raw.length + bare);
  let at = 0;
  for (let i = 0; i < raw.length; i++) {
    if (raw[i] === LF && raw[i - 1] !== CR) message[at++] = CR;
    message[at++] = raw[i]!;
  }
  return message;
}

/** Where the body begins; the whole size where no empty line ends the header. */
function endOfHead(message: Uint8Array): number {
  if (message[0] === CR && message[1] === LF) return 2;
  for (let at = message.indexOf(LF); at >= 0; at = message.indexOf(LF, at + 1)) {
    if (message[at + 1] === CR && message[at + 2] === LF) return at + 3;
  }
  return message.length;
}

const isArc = (name: string) => (ARC_NAMES as readonly string[]).includes(name);

function fieldName(line: string): string {
  const colon = line.indexOf(":");
  return (colon < 0 ? line : line.slice(0, colon)).trim().toLowerCase();
}

/** What stands behind the name of a field, unfolded. */
function valueOf(field: string): string {
  return field.slice(field.indexOf(":") + 1).replaceAll("\r\n", "").trim();
}

/** Bytes of the line ends after the last field: none, one or two line ends. */
function endingBytes(head: string): number {
  return head.endsWith("\r\n\r\n") ? 4 : head.endsWith("\r\n") ? 2 : 0;
}

function latin1(bytes: Uint8Array): string {
  // TextDecoder("latin1") is windows-1252, where some bytes are other characters.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
