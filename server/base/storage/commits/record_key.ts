/**
 * Decides which keys of the store are records. A part declares its own. Every other key is a row,
 * which commits write without a check and memory does not keep: see `rows/row_key.ts`.
 */

import { type KeyOf, keyOf, type KeyPart, type Told } from "../rows/row_key.ts";

/** Key of a record that holds a `T`. */
export type RecordKey<T> = Deno.KvKey & { readonly [HOLDS]?: T };
declare const HOLDS: unique symbol;

/** The fixed first parts, and the number of all parts, of declared records. */
interface Shape {
  prefix: readonly KeyPart[];
  length: number;
}

/** By the first part: for most rows one look-up shows that they are no records. */
const shapes = new Map<KeyPart, Shape[]>();

/**
 * Declares records: all keys of `prefix` followed by exactly `arity` parts.
 * @returns makes the key of one of them
 * @throws TypeError for a declaration that exists already
 */
export function defineRecord<T, Parts extends KeyPart[] = []>(
  prefix: readonly [string, ...KeyPart[]],
  arity: Parts["length"],
  _told?: Partial<Told>,
): KeyOf<Parts, RecordKey<T>> {
  const shape = { prefix, length: prefix.length + arity };
  const others = shapes.get(prefix[0]);
  if (others === undefined) shapes.set(prefix[0], [shape]);
  else if (others.some((other) => isSame(other, shape))) {
    throw new TypeError(`records ${prefix.join("/")} of ${arity} parts are declared already`);
  } else others.push(shape);
  return keyOf(prefix, arity);
}

/** Whether a key belongs to a declared record. */
export function isRecordKey(key: Deno.KvKey): boolean {
  return shapeOf(key) !== undefined;
}

function shapeOf(key: Deno.KvKey): Shape | undefined {
  return shapes.get(key[0] as KeyPart)?.find(({ prefix, length }) =>
    key.length === length && prefix.every((part, i) => key[i] === part)
  );
}

function isSame(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.prefix.length === b.prefix.length &&
    a.prefix.every((part, i) => part === b.prefix[i]);
}
