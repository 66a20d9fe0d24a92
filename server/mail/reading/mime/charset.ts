/** Bytes as text, by the charset that a header names. Pure; linear in the bytes. */
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";

export interface DecodedText {
  text: string;
  /** False where the charset is unknown, or none is named and the bytes are no UTF-8: read as windows-1252. */
  isKnown: boolean;
  /** Whether bytes that the charset does not have were replaced by U+FFFD. */
  isBroken: boolean;
}

/** Names that mailers use and the Encoding Standard does not know. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
  "latin-1": "iso-8859-1",
  "latin-2": "iso-8859-2",
  utf8mb4: "utf-8",
};
/** Names that say nothing of the charset: the bytes are looked at. */
const UNSAID =
  /^(?:|us-ascii|ascii|ansi_x3\.4-1968|default|unknown|unknown-8bit|x-unknown|8bit|7bit)$/;
/** A message may name any number of charsets; so many are remembered. */
const REMEMBERED = 64;

const decoders = new BoundedMap<string, TextDecoder | null>(REMEMBERED);
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * @param label as a header names it; "" or us-ascii: UTF-8 if the bytes are that, else windows-1252
 */
export function decodeCharset(bytes: Uint8Array, label: string): DecodedText {
  const name = label.trim().toLowerCase().replace(/^["']+|["']+$/g, "");
  if (UNSAID.test(name)) return decodeUnsaid(bytes);
  const decoder = decoderOf(name);
  if (decoder === null) {
    return { text: decoderOf("windows-1252")!.decode(bytes), isKnown: false, isBroken: false };
  }
  const text = decoder.decode(bytes);
  return { text, isKnown: true, isBroken: text.includes("\ufffd") };
}

function decodeUnsaid(bytes: Uint8Array): DecodedText {
  try {
    return { text: strictUtf8.decode(bytes), isKnown: true, isBroken: false };
  } catch {
    return { text: decoderOf("windows-1252")!.decode(bytes), isKnown: false, isBroken: false };
  }
}

/** @returns null for unknown charsets, and those that the Encoding Standard replaces */
function decoderOf(name: string): TextDecoder | null {
  let decoder = decoders.get(name);
  if (decoder !== undefined) return decoder;
  try {
    decoder = new TextDecoder(Object.hasOwn(ALIASES, name) ? ALIASES[name] : name);
  } catch {
    decoder = null;
  }
  decoders.set(name, decoder);
  return decoder;
}
