/** Writes the table of the store's keys in docs/architecture.md from their declarations in the sources. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { listProjectFiles } from "./project_files.ts";

export const STORE_KEYS_PAGE = "docs/architecture.md";
const HEAD = "| key | value | kind, expiry | declared in |\n|---|---|---|---|\n";
const TABLE = /\| key \| value \| kind, expiry \|.*\n(?:\|.*\n)+/;

/** A declaration by defineRecord(), defineRow() or defineWindow(). */
export interface StoreKey {
  file: string;
  /** All parts: of fixed ones the value, of others their name and whether it stands for several. */
  parts: readonly (string | number | { name: string; isRest: boolean })[];
  kind: "record" | "row";
  holds: string;
  expires?: string;
}

/**
 * The declarations of a file, in its order. They are read, not run: their arguments are literals.
 * @throws Error naming the file, for one that does not say what it holds
 */
export function readStoreKeys(file: string, text: string): StoreKey[] {
  return [...text.matchAll(/(?<!function )\bdefine(Record|Row|Window)(?=<|\(\s*[["])/g)].map(
    (match) => {
      const typesAt = match.index + match[0].length;
      const types = text[typesAt] === "<" ? bracketed(text, typesAt) : "";
      const given = bracketed(text, typesAt + (types === "" ? 0 : types.length + 2));
      const [first, ...more] = evaluate(file, given);
      const told = more.at(-1) as Partial<StoreKey> | undefined;
      if (typeof told?.holds !== "string") {
        throw new Error(`${file}: ${match[0]}(${given.slice(0, 60)} says no \`holds: "..."\``);
      }
      const prefix = match[1] === "Window" ? ["window", first as string] : first as string[];
      return {
        file,
        parts: [...prefix, ...namedParts(splitOutside(types).at(-1) ?? "")],
        kind: match[1] === "Row" ? "row" : "record",
        holds: told.holds,
        expires: told.expires,
      };
    },
  );
}

/** What stands between a bracket and its partner. */
function bracketed(text: string, at: number): string {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const quote = text[i]!;
    if (`"'`.includes(quote)) { while (text[++i] !== quote) if (text[i] === "\\") i++; }
    if ("<([{".includes(text[i]!)) depth++;
    if (">)]}".includes(text[i]!) && --depth === 0) return text.slice(at + 1, i);
  }
  throw new Error(`no bracket closes ${text.slice(at, at + 60)}`);
}

function evaluate(file: string, list: string): unknown[] {
  try {
    return new Function(`return [${list}]`)();
  } catch (error) {
    throw new Error(`${file}: not all literals: ${list.slice(0, 80)}`, { cause: error });
  }
}

/** Cuts at the commas outside of all brackets. */
function splitOutside(text: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if ("<([{".includes(character)) depth++;
    if (">)]}".includes(character)) depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

/** `[orgId: string, what: "bytes", ...name: string[]]` */
function namedParts(tuple: string): StoreKey["parts"] {
  if (!tuple.startsWith("[")) return [];
  return splitOutside(tuple.slice(1, -1)).map((part) => {
    const [, rest, name, type] = part.match(/^(\.\.\.)?(\w+): (.+)$/s)!;
    return /^(?:".*"|\d+)$/.test(type!)
      ? JSON.parse(type!)
      : { name: name!, isRest: rest !== undefined };
  });
}

/** Whether a key of a store is one of a declaration. */
export function isDeclared(key: Deno.KvKey, { parts }: StoreKey): boolean {
  const isVaried = parts.some((part) => typeof part === "object" && part.isRest);
  if (isVaried ? key.length < parts.length - 1 : key.length !== parts.length) return false;
  const fixed = parts.findIndex((part) => typeof part === "object" && part.isRest);
  return parts.slice(0, isVaried ? fixed : undefined)
    .every((part, i) => typeof part === "object" || part === key[i]);
}

/** The page with the table of these declarations. */
export function withStoreKeys(page: string, keys: readonly StoreKey[]): string {
  const rows = keys.map(({ file, parts, kind, holds, expires }) => {
    const shape = parts.map((part) =>
      typeof part === "object" ? (part.isRest ? "..." : "") + part.name : JSON.stringify(part)
    );
    const stays = [kind, ...expires ? [expires] : []].join(", ");
    const place = file.replace(/^server\//, "");
    return `| \`[${shape.join(", ")}]\` | ${holds} | ${stays} | \`${place}\` |\n`;
  });
  return page.replace(TABLE, () => HEAD + rows.join(""));
}

/** All declarations of the server, by file. */
export async function storeKeys(project: string): Promise<StoreKey[]> {
  const files = (await listProjectFiles(project))
    .filter((path) => /^server\/.*(?<!_test)\.ts$/.test(path));
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(join(project, file))));
  return files.flatMap((file, i) => readStoreKeys(file, texts[i]!));
}

if (import.meta.main) {
  const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const page = join(project, STORE_KEYS_PAGE);
  const text = await Deno.readTextFile(page);
  await Deno.writeTextFile(page, withStoreKeys(text, await storeKeys(project)));
}
