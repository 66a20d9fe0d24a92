/**
 * Agents of consecutive ids, each as one string and one bit in many planes. A plane belongs to
 * pieces of one to three letters and to marks (a tag, a handle); an agent's bit is set in those of its
 * text. A search reads one bit for each agent and plane of its own pieces, and compares the few agents
 * that are left.
 */
import type { ListingRow } from "./listing.ts";

export const BLOCK_AGENTS = 1_024;
const PLANES = 1_024;
const WORDS = BLOCK_AGENTS / 32;
/** Planes of one mark. Of a thousand agents without it, some four stand in all of them. */
const MARK_PLANES = 4;
/** Stands between fields: no profile and no piece holds it. */
export const FIELD_BREAK = "\u0000";

export class AgentBlock {
  readonly #planes = new Int32Array(PLANES * WORDS);
  /** createdAtMs, address and tags, each with a comma after it, then the four texts. */
  readonly #entries = new Array<string | undefined>(BLOCK_AGENTS).fill(undefined);

  constructor(private readonly firstId: number) {}

  /** Adds an agent, or replaces what was known of it. */
  put(listing: ListingRow): void {
    const { id, handle, wordName, displayName, description, tags, address } = listing;
    this.remove(id);
    const head = [listing.createdAtMs, address, ...tags, ""].join(",");
    // Joined, not a template: V8 would keep its parts.
    this.#entries[id - this.firstId] = [head, handle, wordName, displayName, description]
      .join(FIELD_BREAK);
    const { word, bit } = placeOf(id - this.firstId);
    const add = (plane: number) => {
      this.#planes[plane * WORDS + word]! |= bit;
    };
    eachOfMarks(tags, handle, add);
    eachPiece([handle, wordName, displayName, description].join(FIELD_BREAK).toLowerCase(), add);
  }

  remove(agentId: number): void {
    const at = agentId - this.firstId;
    if (this.#entries[at] === undefined) return;
    this.#entries[at] = undefined;
    const { word, bit } = placeOf(at);
    for (let plane = 0; plane < PLANES; plane++) this.#planes[plane * WORDS + word]! &= ~bit;
  }

  /**
   * Ids of those who stand in all of some planes, the highest first.
   * @param seenMs of the block's agents: those who were not seen after a time are left out
   */
  candidates(planes: readonly number[], seenMs?: Float64Array, afterMs = -1): number[] {
    const agentIds: number[] = [];
    for (let word = WORDS - 1; word >= 0; word--) {
      let bits = -1;
      for (let i = 0; i < planes.length && bits !== 0; i++) {
        bits &= this.#planes[planes[i]! * WORDS + word]!;
      }
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits);
        bits ^= 1 << bit;
        const at = word * 32 + bit;
        if (seenMs === undefined || seenMs[at]! > afterMs) agentIds.push(this.firstId + at);
      }
    }
    return agentIds;
  }

  /**
   * Whether an agent is here and holds a text and all of some tags.
   * @param text in lower case, without a break
   */
  holds(agentId: number, text: string, tags: readonly string[]): boolean {
    const entry = this.#entries[agentId - this.firstId];
    if (entry === undefined) return false;
    const headEnd = entry.indexOf(FIELD_BREAK);
    for (const tag of tags) {
      const at = entry.indexOf(`,${tag},`);
      if (at === -1 || at > headEnd) return false;
    }
    return entry.slice(headEnd + 1).toLowerCase().includes(text);
  }

  read(agentId: number): ListingRow | undefined {
    const [head, handle, wordName, displayName, description] =
      this.#entries[agentId - this.firstId]?.split(FIELD_BREAK) ?? [];
    if (head === undefined) return undefined;
    const [createdAtMs, address, ...tags] = head.slice(0, -1).split(",");
    return {
      v: 1,
      id: agentId,
      handle: handle!,
      wordName: wordName!,
      address: address!,
      displayName: displayName!,
      description: description!,
      tags,
      createdAtMs: Number(createdAtMs),
    };
  }
}

/** The planes in which every agent stands that holds a text, all of some tags and, if given, a handle. */
export function planesOf(text: string, tags: readonly string[], handle?: string): number[] {
  const planes = new Set<number>();
  const add = (plane: number) => void planes.add(plane);
  eachOfMarks(tags, handle, add);
  eachPiece(text, add);
  return [...planes];
}

function placeOf(at: number): { word: number; bit: number } {
  return { word: at >>> 5, bit: 1 << (at & 31) };
}

/** Gives the planes of all pieces of one, two and three letters of a text, the longest first. */
function eachPiece(text: string, give: (plane: number) => void): void {
  for (let length = 3; length > 0; length--) {
    next: for (let from = 0; from + length <= text.length; from++) {
      let hash = 0;
      for (let i = from; i < from + length; i++) {
        const code = text.charCodeAt(i);
        if (code === 0) continue next;
        hash = joined(hash, code);
      }
      give(mix(hash) % PLANES);
    }
  }
}

function eachOfMarks(
  tags: readonly string[],
  handle: string | undefined,
  give: (plane: number) => void,
): void {
  const marks = tags.map((tag) => `,${tag}`);
  if (handle !== undefined) marks.push(`@${handle}`);
  for (const mark of marks) {
    let hash = 0;
    for (let i = 0; i < mark.length; i++) hash = mix(joined(hash, mark.charCodeAt(i)));
    for (let n = 0; n < MARK_PLANES; n++) give(mix(hash + n) % PLANES);
  }
}

function joined(hash: number, code: number): number {
  return Math.imul(hash, 0x9e3779b1) + code;
}

/** Spreads the bits of an integer (the finaliser of MurmurHash3). */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
}
