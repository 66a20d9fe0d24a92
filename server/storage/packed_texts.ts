/**
 * Short ASCII texts by name, as bytes: what has left a cache, at a quarter of the room and without an object
 * for the garbage collector. The oldest leave when there are too many.
 */

const CHUNK_BYTES = 256 * 1024;
const FIRST_SLOTS = 2_048;
/** Words of a slot: the hash of a name, and where its text is; 0 for an empty one. */
const SLOT = 2;
/** Bytes before a name: its length and that of its text, two each. */
const HEADER = 4;
/** Longer texts are not kept. */
const MAX_LENGTH = 2_048;
const ASCII = 128;

export class PackedTexts {
  /** Chunks by the order of their coming: number n stands at n modulo their greatest number. */
  readonly #chunks: Uint8Array[] = [];
  readonly #chunkLimit: number;
  #slots = new Uint32Array(SLOT * FIRST_SLOTS);
  #oldest = 0;
  #newest = -1;
  /** Bytes of the newest chunk that are written. */
  #used = CHUNK_BYTES;
  size = 0;

  /**
   * @param capacityBytes of names and texts, taken as they come
   * @param seed of the hashes of names
   */
  constructor(
    capacityBytes: number,
    private readonly seed: number = crypto.getRandomValues(new Uint32Array(1))[0]!,
  ) {
    this.#chunkLimit = Math.max(2, Math.floor(capacityBytes / CHUNK_BYTES));
  }

  /** Bytes taken now, for figures and tests. */
  get sizeBytes(): number {
    return this.#chunks.length * CHUNK_BYTES + this.#slots.byteLength;
  }

  /** Keeps a text under a name, in place of one that stands there: ASCII, at most 2,048 letters. */
  set(name: string, text: string): void {
    this.take(name);
    if (text.length > MAX_LENGTH || name.length > MAX_LENGTH || name === "") return;
    const length = HEADER + name.length + text.length;
    if (this.#used + length > CHUNK_BYTES) this.#nextChunk();
    const chunk = this.#chunks[this.#newest % this.#chunkLimit]!;
    const at = this.#used;
    if (!write(chunk, at + HEADER, name) || !write(chunk, at + HEADER + name.length, text)) {
      return void chunk.fill(0, at, at + length);
    }
    chunk[at] = name.length & 0xff;
    chunk[at + 1] = name.length >>> 8;
    chunk[at + 2] = text.length & 0xff;
    chunk[at + 3] = text.length >>> 8;
    if (4 * this.size >= this.#slots.length) this.#grow();
    put(this.#slots, hashOf(name, this.seed), this.#placeOf(this.#newest, at));
    this.#used += length;
    this.size++;
  }

  /** The text of a name, which is kept no longer; undefined where there is none. */
  take(name: string): string | undefined {
    if (this.size === 0) return undefined;
    const hash = hashOf(name, this.seed);
    const mask = this.#slots.length / SLOT - 1;
    for (let slot = hash & mask; this.#slots[SLOT * slot + 1] !== 0; slot = (slot + 1) & mask) {
      if (this.#slots[SLOT * slot] !== hash) continue;
      const place = this.#slots[SLOT * slot + 1]! - 1;
      const chunk = this.#chunks[Math.floor(place / CHUNK_BYTES)]!;
      const at = place % CHUNK_BYTES;
      if (!isAt(chunk, at, name)) continue;
      this.#clear(slot);
      const textAt = at + HEADER + name.length;
      return read(chunk, textAt, chunk[at + 2]! | chunk[at + 3]! << 8);
    }
    return undefined;
  }

  /** A place as a slot holds it, never 0: the chunk's index above the offset in it, plus one. */
  #placeOf(chunk: number, at: number): number {
    return (chunk % this.#chunkLimit) * CHUNK_BYTES + at + 1;
  }

  #nextChunk(): void {
    this.#newest++;
    const index = this.#newest % this.#chunkLimit;
    if (this.#newest - this.#oldest >= this.#chunkLimit) this.#forgetOldest();
    else this.#chunks[index] = new Uint8Array(CHUNK_BYTES);
    this.#used = 0;
  }

  /** Forgets what a chunk holds that is written anew. It ends with zeros, unlike any name. */
  #forgetOldest(): void {
    const chunk = this.#chunks[this.#oldest % this.#chunkLimit]!;
    for (let at = 0; at + HEADER <= CHUNK_BYTES;) {
      const nameBytes = chunk[at]! | chunk[at + 1]! << 8;
      const textBytes = chunk[at + 2]! | chunk[at + 3]! << 8;
      if (nameBytes === 0) break;
      const name = read(chunk, at + HEADER, nameBytes);
      this.#forget(hashOf(name, this.seed), this.#placeOf(this.#oldest, at));
      at += HEADER + nameBytes + textBytes;
    }
    chunk.fill(0);
    this.#oldest++;
  }

  #forget(hash: number, place: number): void {
    const mask = this.#slots.length / SLOT - 1;
    for (let slot = hash & mask; this.#slots[SLOT * slot + 1] !== 0; slot = (slot + 1) & mask) {
      if (this.#slots[SLOT * slot + 1] === place) return this.#clear(slot);
    }
  }

  /** Empties a slot, and moves those behind it that could not be found past an empty one. */
  #clear(emptied: number): void {
    const slots = this.#slots;
    const mask = slots.length / SLOT - 1;
    let empty = emptied;
    for (let slot = (empty + 1) & mask; slots[SLOT * slot + 1] !== 0; slot = (slot + 1) & mask) {
      const wanted = slots[SLOT * slot]! & mask;
      // It may stay where its own place lies between the empty one and itself.
      if (((slot - wanted) & mask) < ((slot - empty) & mask)) continue;
      slots[SLOT * empty] = slots[SLOT * slot]!;
      slots[SLOT * empty + 1] = slots[SLOT * slot + 1]!;
      empty = slot;
    }
    slots[SLOT * empty + 1] = 0;
    this.size--;
  }

  #grow(): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(2 * former.length);
    for (let at = 0; at < former.length; at += SLOT) {
      if (former[at + 1] !== 0) put(this.#slots, former[at]!, former[at + 1]!);
    }
  }
}

/** Places that whoever chooses names cannot choose. */
function hashOf(name: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ hash >>> 13, 0x85ebca6b);
  return (hash ^ hash >>> 16) >>> 0;
}

function put(slots: Uint32Array, hash: number, place: number): void {
  const mask = slots.length / SLOT - 1;
  let slot = hash & mask;
  while (slots[SLOT * slot + 1] !== 0) slot = (slot + 1) & mask;
  slots[SLOT * slot] = hash;
  slots[SLOT * slot + 1] = place;
}

function isAt(chunk: Uint8Array, at: number, name: string): boolean {
  if ((chunk[at]! | chunk[at + 1]! << 8) !== name.length) return false;
  for (let i = 0; i < name.length; i++) {
    if (chunk[at + HEADER + i] !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Letter by letter: for texts as short as these faster than the runtime's encoder. @returns whether it is ASCII */
function write(chunk: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ASCII) return false;
    chunk[at + i] = code;
  }
  return true;
}

function read(chunk: Uint8Array, at: number, length: number): string {
  const codes = chunk.subarray(at, at + length) as unknown as number[];
  return String.fromCharCode.apply(null, codes);
}
