/**
 * The questions and answers of DNS that SPF, DKIM and DMARC need, as bytes (RFC 1035). The
 * runtime's own resolver tells an answer SERVFAIL from one without records as little as `node:dns`
 * does on it (docs/adr/0039), and the results of a mail rest on that difference.
 */

export type RecordType = "A" | "AAAA" | "MX" | "PTR" | "TXT";

/** As `node:dns` gives them: addresses, names, chunks of text. */
export type DnsRecord = string | string[] | { priority: number; exchange: string };

/** Why there are no records, in the words of `node:dns`. */
export type DnsErrorCode = "ENOTFOUND" | "ENODATA" | "ESERVFAIL" | "EREFUSED" | "ETIMEOUT";

export type DnsAnswer = { records: DnsRecord[] } | { code: DnsErrorCode };

const TYPES: Record<RecordType, number> = { A: 1, PTR: 12, MX: 15, TXT: 16, AAAA: 28 };
const CNAME = 5;
const CLASS_IN = 1;
const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
/** Aliases that are followed from the name that was asked for. */
const MAX_ALIASES = 16;
/** Answer, recursion available, and the response code: what of the flags is looked at. */
const FLAG_ANSWER = 0x8000;
const FLAG_CUT = 0x0200;
const FLAG_RECURSE = 0x0100;

/**
 * The bytes of a question, which asks for recursion.
 * @param name without a dot at the end; printable ASCII
 * @returns null for what is no name: empty labels, or more than 63 bytes a label, 255 in all
 */
export function encodeQuestion(
  id: number,
  name: string,
  type: RecordType,
): Uint8Array<ArrayBuffer> | null {
  if (!/^[!-~]+$/.test(name)) return null;
  const labels = name.split(".");
  if (labels.some((label) => label === "" || label.length > MAX_LABEL_BYTES)) return null;
  const nameBytes = name.length + 2;
  if (nameBytes > MAX_NAME_BYTES) return null;
  const bytes = new Uint8Array(HEADER_BYTES + nameBytes + 4);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, id);
  view.setUint16(2, FLAG_RECURSE);
  view.setUint16(4, 1);
  let at = HEADER_BYTES;
  for (const label of labels) {
    bytes[at++] = label.length;
    for (let i = 0; i < label.length; i++) bytes[at++] = label.charCodeAt(i);
  }
  view.setUint16(at + 1, TYPES[type]);
  view.setUint16(at + 3, CLASS_IN);
  return bytes;
}

/**
 * What an answer says to a question. Aliases are followed inside of the answer, as a recursive
 * resolver gives them.
 * @param maxRecords further ones are left out
 * @returns null for what is no answer to that question, or cannot be read
 */
export function decodeAnswer(
  bytes: Uint8Array,
  question: { id: number; name: string; type: RecordType },
  maxRecords: number,
): DnsAnswer | null {
  try {
    return new AnswerReader(bytes).read(question, maxRecords);
  } catch (error) {
    if (error instanceof RangeError) return null; // it ends before what it announces
    throw error;
  }
}

class AnswerReader {
  readonly #view: DataView;
  #at = HEADER_BYTES;

  constructor(private readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(
    { id, name, type }: { id: number; name: string; type: RecordType },
    maxRecords: number,
  ): DnsAnswer | null {
    const flags = this.#view.getUint16(2);
    const isAnswer = (flags & FLAG_ANSWER) !== 0 && (flags & FLAG_CUT) === 0;
    if (!isAnswer || this.#view.getUint16(0) !== id || this.#view.getUint16(4) !== 1) return null;
    const asked = this.#name().toLowerCase();
    const askedType = this.#uint16();
    if (asked !== name.toLowerCase() || askedType !== TYPES[type]) return null;
    this.#uint16();
    switch (flags & 0xf) {
      case 0:
        return this.#records(asked, TYPES[type], maxRecords);
      case 3:
        return { code: "ENOTFOUND" };
      case 5:
        return { code: "EREFUSED" };
      default:
        return { code: "ESERVFAIL" };
    }
  }

  #records(asked: string, type: number, maxRecords: number): DnsAnswer {
    const found = new Map<string, DnsRecord[]>();
    const aliases = new Map<string, string>();
    for (let left = this.#view.getUint16(6); left > 0; left--) {
      const owner = this.#name().toLowerCase();
      const recordType = this.#uint16();
      const recordClass = this.#uint16();
      this.#skip(4); // for how long it may be kept: nothing is
      const end = this.#uint16() + this.#at;
      if (end > this.bytes.length) throw new RangeError("a record beyond the end");
      if (recordClass === CLASS_IN && recordType === CNAME) aliases.set(owner, this.#name());
      else if (recordClass === CLASS_IN && recordType === type) {
        const records = found.get(owner) ?? [];
        if (records.length < maxRecords) records.push(this.#data(type, end));
        found.set(owner, records);
      }
      this.#at = end;
    }
    let owner = asked;
    for (let hops = 0; hops <= MAX_ALIASES; hops++) {
      const records = found.get(owner);
      if (records !== undefined) return { records };
      const target = aliases.get(owner);
      if (target === undefined) break;
      owner = target.toLowerCase();
    }
    return { code: "ENODATA" };
  }

  #data(type: number, end: number): DnsRecord {
    switch (type) {
      case TYPES.A:
        return Array.from({ length: 4 }, () => this.#uint8()).join(".");
      case TYPES.AAAA:
        return Array.from({ length: 8 }, () => this.#uint16().toString(16)).join(":");
      case TYPES.MX:
        return { priority: this.#uint16(), exchange: this.#name() };
      case TYPES.PTR:
        return this.#name();
      default:
        return this.#texts(end);
    }
  }

  #texts(end: number): string[] {
    const texts: string[] = [];
    while (this.#at < end) {
      const length = this.#uint8();
      if (this.#at + length > end) throw new RangeError("a text beyond its record");
      texts.push(latin1(this.bytes.subarray(this.#at, this.#at + length)));
      this.#skip(length);
    }
    return texts;
  }

  /** A name without the dot at its end. Pointers lead back only, so that no name goes round. */
  #name(): string {
    const labels: string[] = [];
    let at = this.#at;
    let lowest = at;
    let hasJumped = false;
    let nameBytes = 0;
    for (;;) {
      const length = this.#view.getUint8(at++);
      if (length === 0) break;
      if (length >= 0xc0) {
        const target = (length & 0x3f) << 8 | this.#view.getUint8(at++);
        if (target >= lowest) throw new RangeError("a pointer that leads forward");
        if (!hasJumped) this.#at = at;
        hasJumped = true;
        lowest = target;
        at = target;
        continue;
      }
      nameBytes += length + 1;
      if (length > MAX_LABEL_BYTES || nameBytes >= MAX_NAME_BYTES) {
        throw new RangeError("a name that is too long");
      }
      if (at + length > this.bytes.length) throw new RangeError("a label beyond the end");
      labels.push(latin1(this.bytes.subarray(at, at + length)));
      at += length;
    }
    if (!hasJumped) this.#at = at;
    return labels.join(".");
  }

  #uint8(): number {
    return this.#view.getUint8(this.#at++);
  }

  #uint16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2);
  }

  #skip(sizeBytes: number): void {
    this.#at += sizeBytes;
  }
}

/** A character a byte: what is not ASCII is refused by those who read it. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
