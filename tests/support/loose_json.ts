/** Writes JSON in other bytes than RFC 8785 requires, with the same value. */
import type { JsonValue } from "../../toolkit/mod.ts";

/** Random numbers in [0, 1). */
export type Random = () => number;

/** Text of a value that strict JSON accepts and RFC 8785 would write otherwise. */
export function writeLoosely(value: JsonValue, random: Random): string {
  const space = () => random() < 0.8 ? "" : " \t\r\n"[Math.floor(random() * 4)]!;
  const write = (part: JsonValue): string => {
    if (typeof part === "string") return writeString(part, random);
    if (typeof part === "number") return writeNumber(part, random);
    if (part === null || typeof part === "boolean") return String(part);
    if (Array.isArray(part)) {
      return `[${part.map((item) => space() + write(item) + space()).join(",")}]`;
    }
    const members = Object.entries(part).sort(() => random() - 0.5)
      .map(([name, item]) =>
        `${space()}${writeString(name, random)}${space()}:${space()}${write(item)}`
      );
    return `{${members.join(",")}${space()}}`;
  };
  return space() + write(value) + space();
}

function writeString(text: string, random: Random): string {
  let written = '"';
  for (const character of text) {
    if (character === "/" && random() < 0.5) written += "\\/";
    else if (random() < 0.1) {
      for (let i = 0; i < character.length; i++) {
        const hex = character.charCodeAt(i).toString(16).padStart(4, "0");
        written += `\\u${random() < 0.5 ? hex : hex.toUpperCase()}`;
      }
    } else written += JSON.stringify(character).slice(1, -1);
  }
  return `${written}"`;
}

function writeNumber(value: number, random: Random): string {
  const plain = Object.is(value, -0) ? "-0" : String(value);
  const choice = random();
  if (choice < 0.2) return value.toExponential();
  if (choice < 0.3 && Number.isInteger(value) && /^-?\d+$/.test(plain)) return `${plain}.00`;
  if (choice < 0.4) return plain.replace("e+", "E");
  return plain;
}
