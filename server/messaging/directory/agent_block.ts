/**
 * Agents of consecutive ids, each as a few texts and one bit in many planes. A plane belongs to
 * pieces of one to three letters and to marks (a tag, a handle); an agent's bit is set in the planes of its
 * text. A search reads one bit for each agent and plane of its own pieces, and compares the few agents
 * that are left.
 */
import type { ListingRow } from "./listing.ts";
import { PackedTexts } from "./packed_texts.ts";
import type { SearchQuery } from "./search_query.ts";

export const BLOCK_AGENTS = 8_192;
const PLANES = 1_024;
const WORDS = BLOCK_AGENTS / 32;
/** Agents whose texts stand together: what a change of one moves. */
const TEXT_AGENTS = 256;
/** Planes of one mark. Of a thousand agents without it, few stand in all of them. */
const MARK_PLANES = 4;
/** Stands between fields: no profile and no piece holds it. */
export const FIELD_BREAK = "\u0000";

/**
 * Texts of an agent: the four that are searched, in lower case; the tags; time, address and, where
 * they are not in lower case, the four as they are.
 */
const [TEXT, TAGS, REST, TEXTS] = [0, 1, 2, 3];

/** A query as its bytes are compared. */
export interface Sought {
  text: Uint8Array;
  /** Each between commas. */
  tags: readonly Uint8Array[];
}

export class AgentBlock {
  readonly #planes = new Int32Array(PLANES * WORDS);
  readonly #texts = Array.from(
    { length: BLOCK_AGENTS / TEXT_AGENTS },
    () => new PackedTexts(TEXTS * TEXT_AGENTS),
  );

  constructor(private readonly firstId: number) {}

  /** Adds an agent, or replaces what was known of it. */
  put(listing: ListingRow): void {
    const { id, handle, wordName, displayName, description, tags, address, createdAtMs } = listing;
    this.remove(id);
    const fields = [handle, wordName, displayName, description];
    const shown = fields.join(FIELD_BREAK);
    const text = shown.toLowerCase();
    const rest = [createdAtMs, address, ...(shown === text ? [] : fields)].join(FIELD_BREAK);
    const { texts, first } = this.#textsOf(id);
    texts.set(first + TEXT, text);
    texts.set(first + TAGS, `,${tags.join(",")},`);
    texts.set(first + REST, rest);
    const { word, bit } = this.#bitOf(id);
    const add = (plane: number) => {
      this.#planes[plane * WORDS + word]! |= bit;
    };
    eachMark([handleMark(handle), ...tags.map(tagMark)], add);
    eachPiece(text, 1, add);
  }

  remove(agentId: number): void {
    const { texts, first } = this.#textsOf(agentId);
    if (texts.get(first + REST) === "") return;
    for (const part of [TEXT, TAGS, REST]) texts.set(first + part, "");
    const { word, bit } = this.#bitOf(agentId);
    for (let plane = 0; plane < PLANES; plane++) this.#planes[plane * WORDS + word]! &= ~bit;
  }

  /** The agents in all of some planes, a bit each. @param within leaves out others */
  candidates(planes: readonly number[], within?: Int32Array): Int32Array {
    const found = within?.slice() ?? new Int32Array(WORDS).fill(-1);
    for (const plane of planes) {
      const bits = this.#planes.subarray(plane * WORDS, (plane + 1) * WORDS);
      for (let word = 0; word < WORDS; word++) found[word]! &= bits[word]!;
    }
    return found;
  }

  /**
   * Ids of candidates, the highest first.
   * @param late by a bit for each of all agents: leaves out others
   * @param seenMs by agent id: those who were not seen after a time are left out
   */
  descending(
    candidates: Int32Array,
    late: Int32Array | null,
    { seenMs, afterMs }: { seenMs: Float64Array; afterMs: number },
  ): number[] {
    const agentIds: number[] = [];
    for (let word = WORDS - 1; word >= 0; word--) {
      let bits = candidates[word]!;
      if (late !== null) bits &= late[this.firstId / 32 + word]!;
      while (bits !== 0) {
        const bit = 31 - Math.clz32(bits);
        bits ^= 1 << bit;
        const agentId = this.firstId + word * 32 + bit;
        if (!(seenMs[agentId]! <= afterMs)) agentIds.push(agentId);
      }
    }
    return agentIds;
  }

  /** Whether an agent is here and holds a text and all of some tags. */
  holds(agentId: number, { text, tags }: Sought): boolean {
    const { texts, first } = this.#textsOf(agentId);
    if (!texts.holds(first + TEXT, text)) return false;
    return tags.every((tag) => texts.holds(first + TAGS, tag));
  }

  read(agentId: number): ListingRow | null {
    const { texts, first } = this.#textsOf(agentId);
    const rest = texts.get(first + REST);
    if (rest === "") return null;
    const [createdAtMs, address, ...fields] = rest.split(FIELD_BREAK);
    const [handle, wordName, displayName, description] = fields.length > 0
      ? fields
      : texts.get(first + TEXT).split(FIELD_BREAK);
    return {
      v: 1,
      id: agentId,
      handle: handle!,
      wordName: wordName!,
      address: address!,
      displayName: displayName!,
      description: description!,
      tags: texts.get(first + TAGS).split(",").filter((tag) => tag !== ""),
      createdAtMs: Number(createdAtMs),
    };
  }

  #textsOf(agentId: number): { texts: PackedTexts; first: number } {
    const at = agentId - this.firstId;
    return { texts: this.#texts[Math.floor(at / TEXT_AGENTS)]!, first: TEXTS * (at % TEXT_AGENTS) };
  }

  #bitOf(agentId: number): { word: number; bit: number } {
    const at = agentId - this.firstId;
    return { word: at >>> 5, bit: 1 << (at & 31) };
  }
}

/** Planes that hold every agent that matches a query. */
export function planesOf({ text, tags }: SearchQuery): number[] {
  const planes = new Set<number>();
  eachMark(tags.map(tagMark), (plane) => planes.add(plane));
  // Longer texts have pieces of three letters enough.
  eachPiece(text, text.length > 4 ? 3 : 1, (plane) => planes.add(plane));
  return [...planes];
}

/** Planes that hold the agent of a handle. */
export function handlePlanes(handle: string): number[] {
  const planes: number[] = [];
  eachMark([handleMark(handle)], (plane) => planes.push(plane));
  return planes;
}

const tagMark = (tag: string) => `,${tag}`;
const handleMark = (handle: string) => `@${handle}`;

function eachMark(marks: readonly string[], give: (plane: number) => void): void {
  for (const mark of marks) {
    let hash = 0;
    for (let i = 0; i < mark.length; i++) hash = mix(joined(hash, mark.charCodeAt(i)));
    for (let n = 0; n < MARK_PLANES; n++) give(mix(hash + n) % PLANES);
  }
}

/** Gives the planes of all pieces of a text, from three letters down to `shortest`. */
function eachPiece(text: string, shortest: number, give: (plane: number) => void): void {
  for (let length = 3; length >= shortest; length--) {
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
