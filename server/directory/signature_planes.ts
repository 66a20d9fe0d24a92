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
const WORD_BITS = 32;
const GROWTH = 1.5;
/** Stands between fields: no piece reaches across it. */
export const FIELD_BREAK = "\u0000";

export class SignaturePlanes {
  #planes = Array.from({ length: SHORT_PLANES + LONG_PLANES }, () => new Uint32Array(0));
  #words = 0;

  /** Sets the bits of an agent's text and tags. */
  add(agentId: number, text: string, tags: readonly string[]): void {
    const word = Math.floor(agentId / WORD_BITS);
    if (word >= this.#words) this.#grow(word + 1);
    const bit = 1 << (agentId % WORD_BITS);
    const planes = this.#planes;
    visitPlanes(text, tags, (plane) => planes[plane]![word]! |= bit);
  }

  /** Clears the bits that add() has set. */
  remove(agentId: number, text: string, tags: readonly string[]): void {
    const word = Math.floor(agentId / WORD_BITS);
    const mask = ~(1 << (agentId % WORD_BITS));
    const planes = this.#planes;
    visitPlanes(text, tags, (plane) => planes[plane]![word]! &= mask);
  }

  /** The agents that may match: one bit for each agent, 32 in a word. */
  candidates(text: string, tags: readonly string[]): Uint32Array {
    const [first, ...others] = searchPlanes(text, tags);
    const found = this.#planes[first!]!.slice();
    for (const plane of others) {
      const bits = this.#planes[plane]!;
      for (let word = 0; word < found.length; word++) found[word]! &= bits[word]!;
    }
    return found;
  }

  #grow(atLeast: number): void {
    this.#words = Math.max(atLeast, Math.ceil(this.#words * GROWTH), 64);
    this.#planes = this.#planes.map((former) => {
      const plane = new Uint32Array(this.#words);
      plane.set(former);
      return plane;
    });
  }
}

/** Visits the planes of all pieces of a text, some of them several times. */
function visitPlanes(
  text: string,
  tags: readonly string[],
  visit: (plane: number) => void,
): void {
  let before = 0;
  let last = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== 0) {
      visit(shortPlane(0, code));
      if (last !== 0) {
        visit(shortPlane(last, code));
        if (before !== 0) visit(longPlane(before, last, code));
      }
    }
    before = last;
    last = code;
  }
  for (const tag of tags) tagPlanes(tag).forEach(visit);
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
