/**
 * A line in which nobody waits for all that another has brought: turns go round between groups, and in
 * a group between the sources of what waits; what one source has brought keeps its order. Pure.
 */

/** Whose turn something takes. */
export interface FairPlace {
  /** Such as whom it is for. */
  group: string;
  /** Such as who brought it. */
  source: string;
}

interface Waiting<T> {
  item: T;
  place: FairPlace;
}

export class FairLine<T> {
  /** By group, by source; whose turn comes first stands first in both. */
  readonly #groups = new Map<string, Map<string, Waiting<T>[]>>();
  #length = 0;

  /** @param max how many wait at most, 1 or more */
  constructor(private readonly max: number) {}

  get length(): number {
    return this.#length;
  }

  /** Whether anything of the group waits. */
  has(group: string): boolean {
    return this.#groups.has(group);
  }

  /**
   * Puts an item behind those of its source.
   * @returns what has to leave a line that is full: the newest of the source that has the most in it, in
   * the group that has the most; it may be the same item. Null while there is room
   */
  add(item: T, place: FairPlace): T | null {
    let group = this.#groups.get(place.group);
    if (group === undefined) this.#groups.set(place.group, group = new Map());
    const waiting = group.get(place.source);
    if (waiting === undefined) group.set(place.source, [{ item, place }]);
    else waiting.push({ item, place });
    this.#length++;
    if (this.#length <= this.max) return null;
    const most = longest(longest(this.#groups.values(), countOf).values(), ({ length }) => length);
    const left = most.at(-1)!;
    this.remove(left.item, left.place);
    return left.item;
  }

  /**
   * Takes the item whose turn it is out of the line.
   * @param mayBegin asked for the first of each source in turn; where it says no, the next one is asked for
   * @returns null where nothing waits that may begin
   */
  take(mayBegin: (item: T, place: FairPlace) => boolean = () => true): T | null {
    for (const group of this.#groups.values()) {
      for (const [first] of group.values()) {
        const { item, place } = first!;
        if (!mayBegin(item, place)) continue;
        const waiting = group.get(place.source)!;
        this.remove(item, place);
        // Behind all others, where anything of them is left.
        if (waiting.length > 0) toTheEnd(group, place.source);
        if (group.size > 0) toTheEnd(this.#groups, place.group);
        return item;
      }
    }
    return null;
  }

  /** @returns whether it was in the line */
  remove(item: T, place: FairPlace): boolean {
    const group = this.#groups.get(place.group);
    const waiting = group?.get(place.source);
    const at = waiting?.findIndex((one) => one.item === item) ?? -1;
    if (at < 0) return false;
    waiting!.splice(at, 1);
    this.#length--;
    if (waiting!.length === 0) group!.delete(place.source);
    if (group!.size === 0) this.#groups.delete(place.group);
    return true;
  }

  /** Takes all out of the line. */
  clear(): T[] {
    const all = [...this.#groups.values()].flatMap((group) => [...group.values()].flat());
    this.#groups.clear();
    this.#length = 0;
    return all.map(({ item }) => item);
  }
}

function toTheEnd<V>(map: Map<string, V>, key: string): void {
  const value = map.get(key)!;
  map.delete(key);
  map.set(key, value);
}

/** Of several the last that is longest: the newest among equals leaves first. */
function longest<V>(all: Iterable<V>, lengthOf: (one: V) => number): V {
  let [found, most] = [undefined as V | undefined, -1];
  for (const one of all) {
    const length = lengthOf(one);
    if (length >= most) [found, most] = [one, length];
  }
  return found!;
}

function countOf<T>(group: Map<string, readonly T[]>): number {
  let count = 0;
  for (const { length } of group.values()) count += length;
  return count;
}
