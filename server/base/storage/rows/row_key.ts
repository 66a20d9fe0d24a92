/** Declares which keys the store has. The table in docs/architecture.md is written from these declarations. */

export type KeyPart = string | number | Uint8Array;

/** What the table says of keys. Read from the sources as it stands there (literals), and dropped when running. */
export interface Told {
  /** The value, in words. */
  holds: string;
  /** How long it stays, or who deletes it. */
  expires?: string;
}

/** Makes keys that are declared once. */
export interface KeyOf<Parts extends readonly KeyPart[], Key extends Deno.KvKey = Deno.KvKey> {
  (...parts: Parts): Key;
  /** What all keys with these first parts begin with, for ranges. */
  under(...parts: Partial<Parts>): Deno.KvKey;
}

/**
 * Declares rows: all keys of `prefix` followed by exactly `arity` parts. Commits write them without a check, and
 * memory does not keep them.
 * @param arity Infinity where the number of parts varies
 * @returns makes the key of one of them
 */
export function defineRow<Parts extends readonly KeyPart[] = []>(
  prefix: readonly [string, ...KeyPart[]],
  arity: Parts["length"],
  _told: Told,
): KeyOf<Parts> {
  return keyOf(prefix, arity);
}

/** Makes keys of a prefix and at most `arity` parts after it. */
export function keyOf<Parts extends readonly KeyPart[], Key extends Deno.KvKey>(
  prefix: readonly KeyPart[],
  arity: number,
): KeyOf<Parts, Key> {
  // Cut to the arity: `.map(keyOf)` passes more arguments than the part.
  const make = (...parts: KeyPart[]) =>
    parts.length > arity ? [...prefix, ...parts.slice(0, arity)] : [...prefix, ...parts];
  return Object.assign(make, { under: make }) as unknown as KeyOf<Parts, Key>;
}
