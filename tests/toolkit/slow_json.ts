/**
 * A slow reader of strict JSON, written rule by rule for comparison with the toolkit's scanner. It
 * shares nothing with it: recursive, by regular expressions, each rule where RFC 8259 or RFC 7493
 * states it.
 *
 * @returns the value, or undefined when the text is to be refused
 */
export function readSlowly(text: string, maxDepth: number): { value: unknown } | undefined {
  if (/\p{Surrogate}/u.test(text)) return undefined;
  const reader = new Reader(text);
  try {
    const value = reader.value(maxDepth);
    reader.take(SPACE);
    return reader.rest === "" ? { value } : undefined;
  } catch (thrown) {
    if (thrown === REFUSED) return undefined;
    throw thrown;
  }
}

const REFUSED = Symbol("refused");
const SPACE = /^[ \t\n\r]*/;
const LITERAL = /^(?:true|false|null)/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/;
// deno-lint-ignore no-control-regex
const STRING = /^"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/;

class Reader {
  constructor(public rest: string) {}

  take(pattern: RegExp): string {
    const match = pattern.exec(this.rest);
    if (match === null) throw REFUSED;
    this.rest = this.rest.slice(match[0].length);
    return match[0];
  }

  value(depth: number): unknown {
    this.take(SPACE);
    if (this.rest.startsWith("{")) return this.object(depth);
    if (this.rest.startsWith("[")) return this.array(depth);
    if (this.rest.startsWith('"')) return this.string();
    if (LITERAL.test(this.rest)) return JSON.parse(this.take(LITERAL));
    return this.number();
  }

  object(depth: number): unknown {
    if (depth === 0) throw REFUSED;
    const members: [string, unknown][] = [];
    this.list("{", "}", () => {
      this.take(SPACE);
      const name = this.string();
      if (members.some(([other]) => other === name)) throw REFUSED;
      this.take(SPACE);
      this.take(/^:/);
      members.push([name, this.value(depth - 1)]);
    });
    return Object.fromEntries(members);
  }

  array(depth: number): unknown {
    if (depth === 0) throw REFUSED;
    const items: unknown[] = [];
    this.list("[", "]", () => items.push(this.value(depth - 1)));
    return items;
  }

  list(open: string, close: string, item: () => void): void {
    this.rest = this.rest.slice(open.length);
    this.take(SPACE);
    if (!this.rest.startsWith(close)) {
      item();
      for (this.take(SPACE); this.rest.startsWith(","); this.take(SPACE)) {
        this.rest = this.rest.slice(1);
        item();
      }
    }
    if (!this.rest.startsWith(close)) throw REFUSED;
    this.rest = this.rest.slice(close.length);
  }

  string(): string {
    const value: string = JSON.parse(this.take(STRING));
    if (/\p{Surrogate}/u.test(value)) throw REFUSED;
    return value;
  }

  number(): number {
    const value = Number(this.take(NUMBER));
    const size = Math.abs(value);
    const isUnsafe = Number.isInteger(value) && size >= 2 ** 53 && size < 1e21;
    if (isUnsafe || size === Infinity) throw REFUSED;
    return value;
  }
}
