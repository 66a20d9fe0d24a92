/**
 * Listings as bytes in chunks: some 200 bytes an agent that the garbage collector never walks.
 * A record is written once, at the end of the newest chunk. When more than half of a chunk is
 * outdated, what is left of it moves, so that at most half of the memory is lost.
 */
import type { ListingRow } from "./listing.ts";
import { FIELD_BREAK } from "./signature_planes.ts";

/** A move copies at most half of this, some 0.1 ms. */
const CHUNK_BYTES = 256 * 1024;
const CHUNK_WORDS = CHUNK_BYTES / 4;
/** A position's bits below the chunk's place. */
const CHUNK_SHIFT = Math.log2(CHUNK_WORDS);
/** Words before the text: agent id, words in all, bytes of each part of the text, time in two. */
const ID = 0;
const WORDS = 1;
const FIELDS_BYTES = 2;
const REST_BYTES = 3;
const LOWERED_BYTES = 4;
const CREATED_AT = 5;
const HEADER_WORDS = 7;
/** Greatest record that is kept: four times what a profile may hold. */
const MAX_TEXT_BYTES = 32 * 1024;
const NONE = 0;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** What ASCII letters are in lower case; every other byte stays. */
const LOWERCASE = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

interface Chunk {
  bytes: Uint8Array;
  words: Uint32Array;
  /** Words that are written. */
  used: number;
  /** Words of records that were replaced or removed. */
  outdated: number;
}

export class PackedListings {
  readonly #chunks: Chunk[] = [];
  /** Chunks without a record, by their place. */
  readonly #empty: number[] = [];
  #newest = -1;
  /** By agent id: the chunk's place times CHUNK_WORDS, plus the record's first word; 0 for none. */
  #positions = new Uint32Array(1_024);
  readonly #text = new Uint8Array(MAX_TEXT_BYTES);
  readonly #time = new Float64Array(1);
  readonly #timeWords = new Uint32Array(this.#time.buffer);
  size = 0;

  /** Bytes of all chunks, for figures and tests. */
  get sizeBytes(): number {
    return (this.#chunks.length - this.#empty.length) * CHUNK_BYTES;
  }

  has(agentId: number): boolean {
    return (this.#positions[agentId] ?? NONE) !== NONE;
  }

  /** Makes room for agents up to an id, so that it need not grow with each of them. */
  reserve(upToId: number): void {
    if (upToId < this.#positions.length) return;
    const grown = new Uint32Array(Math.max(upToId + 1, Math.ceil(this.#positions.length * 1.5)));
    grown.set(this.#positions);
    this.#positions = grown;
  }

  /**
   * Adds a listing, or replaces the one of the same agent.
   * @param lowered its four fields in lower case, with breaks between them
   * @throws RangeError where it takes more than 32 KiB
   */
  put(listing: ListingRow, lowered: string): void {
    const { id, handle, wordName, displayName, description, tags, address } = listing;
    const fields = `${handle}${FIELD_BREAK}${wordName}${FIELD_BREAK}${displayName}${FIELD_BREAK}` +
      description;
    let end = this.#encode(fields, 0);
    const fieldsBytes = end;
    end = this.#encode(`,${tags.join(",")},${FIELD_BREAK}${address}`, end);
    const restBytes = end - fieldsBytes;
    // ASCII is compared in lower case as it stands; other letters have a copy in lower case.
    if (fieldsBytes > fields.length && lowered !== fields) end = this.#encode(lowered, end);
    const words = HEADER_WORDS + Math.ceil(end / 4);

    this.remove(id);
    this.reserve(id);
    const at = this.#claim(words);
    const chunk = this.#chunks[this.#newest]!;
    this.#time[0] = listing.createdAtMs;
    chunk.words[at + ID] = id;
    chunk.words[at + WORDS] = words;
    chunk.words[at + FIELDS_BYTES] = fieldsBytes;
    chunk.words[at + REST_BYTES] = restBytes;
    chunk.words[at + LOWERED_BYTES] = end - fieldsBytes - restBytes;
    chunk.words.set(this.#timeWords, at + CREATED_AT);
    chunk.bytes.set(this.#text.subarray(0, end), (at + HEADER_WORDS) * 4);
    this.#positions[id] = this.#newest * CHUNK_WORDS + at;
    this.size++;
  }

  remove(agentId: number): void {
    if (!this.has(agentId)) return;
    const position = this.#positions[agentId]!;
    const place = Math.floor(position / CHUNK_WORDS);
    const chunk = this.#chunks[place]!;
    chunk.outdated += chunk.words[position % CHUNK_WORDS + WORDS]!;
    this.#positions[agentId] = NONE;
    this.size--;
    if (place !== this.#newest && chunk.outdated > CHUNK_WORDS / 2) this.#moveRest(place);
  }

  /** The listing of an agent that is here. @throws TypeError for any other */
  read(agentId: number): ListingRow {
    const { chunk, at } = this.#find(agentId);
    const fieldsAt = (at + HEADER_WORDS) * 4;
    const restAt = fieldsAt + chunk.words[at + FIELDS_BYTES]!;
    const restEnd = restAt + chunk.words[at + REST_BYTES]!;
    const [handle, wordName, displayName, description] = decoder
      .decode(chunk.bytes.subarray(fieldsAt, restAt)).split(FIELD_BREAK);
    const [tags, address] = decoder.decode(chunk.bytes.subarray(restAt, restEnd))
      .split(FIELD_BREAK);
    this.#timeWords.set(chunk.words.subarray(at + CREATED_AT, at + CREATED_AT + 2));
    return {
      v: 1,
      id: agentId,
      handle: handle!,
      wordName: wordName!,
      address: address!,
      displayName: displayName!,
      description: description!,
      tags: tags!.split(",").filter((tag) => tag !== ""),
      createdAtMs: this.#time[0]!,
    };
  }

  /**
   * Whether an agent is here and holds a text and all of some tags.
   * @param text UTF-8 in lower case, without a break
   * @param tags UTF-8, each between commas
   */
  matches(agentId: number, text: Uint8Array, tags: readonly Uint8Array[]): boolean {
    const position = this.#positions[agentId] ?? NONE;
    if (position === NONE) return false;
    const { bytes, words } = this.#chunks[position >>> CHUNK_SHIFT]!;
    const at = position & (CHUNK_WORDS - 1);
    const fieldsAt = (at + HEADER_WORDS) * 4;
    const restAt = fieldsAt + words[at + FIELDS_BYTES]!;
    const loweredAt = restAt + words[at + REST_BYTES]!;
    for (let i = 0; i < tags.length; i++) {
      if (!holds(bytes, restAt, loweredAt, tags[i]!)) return false;
    }
    const loweredBytes = words[at + LOWERED_BYTES]!;
    return loweredBytes === 0
      ? holds(bytes, fieldsAt, restAt, text)
      : holds(bytes, loweredAt, loweredAt + loweredBytes, text);
  }

  /** Whether an agent is here and has a handle. @param handle UTF-8 */
  hasHandle(agentId: number, handle: Uint8Array): boolean {
    if (!this.has(agentId)) return false;
    const { chunk: { bytes }, at } = this.#find(agentId);
    const handleAt = (at + HEADER_WORDS) * 4;
    return bytes[handleAt + handle.length] === 0 &&
      holds(bytes, handleAt, handleAt + handle.length, handle);
  }

  #find(agentId: number): { chunk: Chunk; at: number } {
    const position = this.#positions[agentId]!;
    return { chunk: this.#chunks[Math.floor(position / CHUNK_WORDS)]!, at: position % CHUNK_WORDS };
  }

  #encode(text: string, at: number): number {
    const { read, written } = encoder.encodeInto(text, this.#text.subarray(at));
    if (read < text.length) throw new RangeError(`a listing takes over ${MAX_TEXT_BYTES} bytes`);
    return at + written;
  }

  /** Room for a record in the newest chunk. @returns its first word */
  #claim(words: number): number {
    if (this.#newest < 0 || this.#chunks[this.#newest]!.used + words > CHUNK_WORDS) {
      const former = this.#newest;
      this.#newest = this.#empty.pop() ?? this.#chunks.length;
      const buffer = new ArrayBuffer(CHUNK_BYTES);
      // From word 1 on: 0 is the position of what is not here.
      this.#chunks[this.#newest] = {
        bytes: new Uint8Array(buffer),
        words: new Uint32Array(buffer),
        used: 1,
        outdated: 0,
      };
      if (former >= 0 && this.#chunks[former]!.outdated > CHUNK_WORDS / 2) this.#moveRest(former);
    }
    const chunk = this.#chunks[this.#newest]!;
    const at = chunk.used;
    chunk.used += words;
    return at;
  }

  /** Copies the records of a chunk that are still good to the newest one, and drops the chunk. */
  #moveRest(place: number): void {
    const { bytes, words, used } = this.#chunks[place]!;
    this.#chunks[place] = { ...this.#chunks[place]!, outdated: 0 };
    for (let at = 1; at < used; at += words[at + WORDS]!) {
      const agentId = words[at + ID]!;
      if (this.#positions[agentId] !== place * CHUNK_WORDS + at) continue;
      const length = words[at + WORDS]!;
      const to = this.#claim(length);
      this.#chunks[this.#newest]!.bytes.set(bytes.subarray(at * 4, (at + length) * 4), to * 4);
      this.#positions[agentId] = this.#newest * CHUNK_WORDS + to;
    }
    this.#chunks[place] = NO_CHUNK;
    this.#empty.push(place);
  }
}

const NO_CHUNK: Chunk = {
  bytes: new Uint8Array(0),
  words: new Uint32Array(0),
  used: 0,
  outdated: 0,
};

/** Whether bytes hold others, ASCII letters in either case. @param sought in lower case */
function holds(bytes: Uint8Array, from: number, to: number, sought: Uint8Array): boolean {
  const { length } = sought;
  if (length === 0) return true;
  const first = sought[0];
  next: for (let at = from; at <= to - length; at++) {
    if (LOWERCASE[bytes[at]!] !== first) continue;
    for (let i = 1; i < length; i++) {
      if (LOWERCASE[bytes[at + i]!] !== sought[i]) continue next;
    }
    return true;
  }
  return false;
}
