/**
 * Keys as strings whose order is that of Deno KV's rows: how memory sorts what a file sorts by itself.
 * Parts are told apart by a tag: bytes, strings, bigints, numbers, booleans, in this order.
 */

// deno-lint-ignore no-control-regex -- NUL alone is escaped
const PLAIN = /^[\x01-\x7f]*$/;
const utf8 = new TextEncoder();
const double = new DataView(new ArrayBuffer(8));

/**
 * One string a key: two keys have the same one if they are the same row. Its length is that of the key in the
 * store, or above it.
 * @throws TypeError for a part that no key has
 */
export function orderedName(key: Deno.KvKey): string {
  let name = "";
  for (const part of key) {
    if (typeof part === "string") {
      name += "\x02" + (PLAIN.test(part) ? part : escaped(utf8.encode(part))) + "\0";
    } else if (typeof part === "number") name += "\x04" + orderedDouble(part);
    else if (part instanceof Uint8Array) name += "\x01" + escaped(part) + "\0";
    else if (typeof part === "bigint") name += "\x03" + orderedBigint(part);
    else if (typeof part === "boolean") name += part ? "\x06" : "\x05";
    else throw new TypeError(`a key has a part that is a ${typeof part}`);
  }
  return name;
}

/** A NUL inside is followed by a byte that nothing else has there, since one alone ends the part. */
function escaped(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte === 0 ? "\0\xff" : String.fromCharCode(byte);
  return text;
}

/** The bits of a double, turned so that they ascend as the numbers do. */
function orderedDouble(value: number): string {
  double.setFloat64(0, value);
  const high = double.getUint32(0);
  const low = double.getUint32(4);
  return high < 0x8000_0000
    ? fourBytes((high | 0x8000_0000) >>> 0) + fourBytes(low)
    : fourBytes(~high >>> 0) + fourBytes(~low >>> 0);
}

function fourBytes(value: number): string {
  return String.fromCharCode(
    value >>> 24,
    value >>> 16 & 0xff,
    value >>> 8 & 0xff,
    value & 0xff,
  );
}

/** Sign, number of digits, digits: of negative ones all turned round. */
function orderedBigint(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString(16);
  const ascending = fourBytes(digits.length) + digits;
  if (value >= 0n) return "\x01" + ascending;
  let turned = "\0";
  for (const unit of ascending) turned += String.fromCharCode(0xff - unit.charCodeAt(0));
  return turned;
}

/** The range of a selector: from the first name, included, to the second, excluded. */
export function rangeOf(selector: Deno.KvListSelector): { from: string; to: string } {
  const { prefix, start, end } = selector as {
    prefix?: Deno.KvKey;
    start?: Deno.KvKey;
    end?: Deno.KvKey;
  };
  const under = prefix === undefined ? null : orderedName(prefix);
  return {
    // No part begins with a NUL, so that the first name behind a key's own is that.
    from: start === undefined ? under! + "\0" : orderedName(start),
    to: end === undefined ? under! + "\xff" : orderedName(end),
  };
}
