/**
 * Tells which agents may hold a text, with one bit for each agent and plane. A bit is set in the
 * planes of all pieces of one, two and three letters in the agent's text. The candidates of a
 * search are the agents in all planes of its pieces: few more than hold the text. A search reads
 * one bit for each agent and plane, 12.5 KB for 100,000 agents. It reads no text of the agents that
 * it rules out.
 */

/** Planes of pieces of one and two letters and of tags, and of pieces of three. */
const SHORT_PLANES = 512;
const LONG_PLANES = 1_024;
const PLANES = SHORT_PLANES + LONG_PLANES;
const WORD_BITS = 32;
/** Agents of one block of memory, 1.5 MB: the planes grow by blocks, and nothing is copied. */
const BLOCK_WORDS = 256;
/** Stands between fields: no piece reaches across it. */
export const FIELD_BREAK = "\u0000";

export class SignaturePlanes {
  /** Each holds all planes of 8,192 agents, one plane after the other. */
  readonly #blocks: Uint32Array[] = [];

  /** Sets the bits of an agent's text and tags. */
  add(agentId: number, text: string, tags: readonly string[]): void {
    const word = Math.floor(agentId / WORD_BITS);
    const place = Math.floor(word / BLOCK_WORDS);
    while (this.#blocks.length <= place) {
      this.#blocks.push(new Uint32Array(PLANES * BLOCK_WORDS));
    }
    const block = this.#blocks[place]!;
    const at = word % BLOCK_WORDS;
    const bit = 1 << (agentId % WORD_BITS);
    setText(block.subarray(at), bit, text);
    for (const tag of tags) {
      for (const plane of tagPlanes(tag)) block[plane * BLOCK_WORDS + at]! |= bit;
    }
  }

  /** Clears all bits of an agent. */
  remove(agentId: number): void {
    const word = Math.floor(agentId / WORD_BITS);
    const block = this.#blocks[Math.floor(word / BLOCK_WORDS)];
    if (block === undefined) return;
    const mask = ~(1 << (agentId % WORD_BITS));
    for (let at = word % BLOCK_WORDS; at < block.length; at += BLOCK_WORDS) block[at]! &= mask;
  }

  /** The agents that may match: one bit for each agent, 32 in a word. */
  candidates(text: string, tags: readonly string[]): Uint32Array {
    const [first, ...others] = searchPlanes(text, tags);
    const found = new Uint32Array(this.#blocks.length * BLOCK_WORDS);
    for (const [place, block] of this.#blocks.entries()) {
      const some = found.subarray(place * BLOCK_WORDS, (place + 1) * BLOCK_WORDS);
      some.set(planeOf(block, first!));
      for (const plane of others) {
        const bits = planeOf(block, plane);
        for (let word = 0; word < BLOCK_WORDS; word++) some[word]! &= bits[word]!;
      }
    }
    return found;
  }
}

function planeOf(block: Uint32Array, plane: number): Uint32Array {
  return block.subarray(plane * BLOCK_WORDS, (plane + 1) * BLOCK_WORDS);
}

/**
 * Sets an agent's bit in the planes of all pieces of a text. With a million agents to read, this is a
 * third of the work: no call for each piece, and no hash for pieces of one and two ASCII letters.
 * @param words a block from the agent's word in the first plane on
 */
function setText(words: Uint32Array, bit: number, text: string): void {
  let before = 0;
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== 0) {
      const isAscii = (last | code) < ASCII;
      words[(isAscii ? ASCII_PLANES[code]! : shortPlane(0, code)) * BLOCK_WORDS]! |= bit;
      if (last !== 0) {
        const short = isAscii ? ASCII_PLANES[last * ASCII + code]! : shortPlane(last, code);
        words[short * BLOCK_WORDS]! |= bit;
        if (before !== 0) words[longPlane(before, last, code) * BLOCK_WORDS]! |= bit;
      }
    }
    before = last;
    last = code;
  }
}

/** The planes that exclude the most agents: those of the search's longest pieces alone. */
function searchPlanes(text: string, tags: readonly string[]): number[] {
  const planes = new Set<number>(tags.flatMap(tagPlanes));
  if (text.length === 1) planes.add(shortPlane(0, text.charCodeAt(0)));
  if (text.length === 2) planes.add(shortPlane(text.charCodeAt(0), text.charCodeAt(1)));
  for (let i = 2; i < text.length; i++) {
    planes.add(longPlane(text.charCodeAt(i - 2), text.charCodeAt(i - 1), text.charCodeAt(i)));
  }
  return [...planes];
}

function tagPlanes(tag: string): number[] {
  let hash = 0x7a67;
  for (let i = 0; i < tag.length; i++) hash = mix(Math.imul(hash, 31) + tag.charCodeAt(i));
  return [hash % SHORT_PLANES, SHORT_PLANES + mix(hash + 1) % LONG_PLANES];
}

function shortPlane(first: number, second: number): number {
  return mix(Math.imul(first, 0x9e3779b1) + second) % SHORT_PLANES;
}

function longPlane(first: number, second: number, third: number): number {
  const hash = Math.imul(Math.imul(first, 0x9e3779b1) + second, 0x85ebca6b) + third;
  return SHORT_PLANES + mix(hash) % LONG_PLANES;
}

/** Spreads the bits of an integer (the finaliser of MurmurHash3). */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}

const ASCII = 128;
/** shortPlane() of two ASCII letters, the first one's code times 128 plus the second one's. */
const ASCII_PLANES = Uint16Array.from(
  { length: ASCII * ASCII },
  (_, pair) => shortPlane(Math.floor(pair / ASCII), pair % ASCII),
);
