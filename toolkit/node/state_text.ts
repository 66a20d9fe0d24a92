import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";

/** The relay that a key belongs to, and what the agent is called there, once that is known. */
export interface HomeRelay {
  /** Its origin. */
  readonly relay: string;
  readonly handle?: string;
  readonly word_name?: string;
}

/** What a state file holds; see {@linkcode stateText}. */
export interface State {
  readonly cursors: Map<string, number>;
  readonly used: Map<string, number[]>;
  home: HomeRelay | undefined;
}

/** `{version: 1, home?: {relay, handle?, word_name?}, cursors: {"RELAY ADDRESS": id}, used_timestamps: {REQUEST: [seconds]}}` */
export function stateText({ cursors, used, home }: State): string {
  const file = {
    version: 1,
    home,
    cursors: Object.fromEntries(cursors),
    used_timestamps: Object.fromEntries(used),
  };
  return `${JSON.stringify(file)}\n`;
}

/**
 * Reads a state file.
 *
 * @param text undefined: there is none yet
 * @returns undefined when it is none
 */
export function parseState(text: Uint8Array | undefined): State | undefined {
  if (text === undefined) return { cursors: new Map(), used: new Map(), home: undefined };
  const file = objectOf(parsed(text));
  const cursors = objectOf(file?.cursors);
  const used = objectOf(file?.used_timestamps);
  if (file?.version !== 1 || cursors === undefined || used === undefined) return undefined;
  if (!Object.values(cursors).every(isCount) || !Object.values(used).every(areCounts)) {
    return undefined;
  }
  const home = file.home === undefined ? undefined : homeOf(file.home);
  if (home === null) return undefined;
  return {
    cursors: new Map(Object.entries(cursors) as [string, number][]),
    used: new Map(Object.entries(used) as [string, number[]][]),
    home,
  };
}

function isCount(value: JsonValue): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function areCounts(value: JsonValue): boolean {
  return Array.isArray(value) && value.every(isCount);
}

function homeOf(value: JsonValue): HomeRelay | null {
  const { relay, handle, word_name } = objectOf(value) ?? {};
  const isText = (one: JsonValue | undefined) => typeof one === "string";
  const isTextOrNone = (one: JsonValue | undefined) => one === undefined || isText(one);
  if (!isText(relay) || !isTextOrNone(handle) || !isTextOrNone(word_name)) return null;
  const home = { relay, handle, word_name };
  const known = Object.entries(home).filter(([, text]) => text !== undefined);
  return Object.fromEntries(known) as unknown as HomeRelay;
}

function parsed(text: Uint8Array): JsonValue | undefined {
  try {
    return parseStrict(text);
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}

function objectOf(value: JsonValue | undefined): { [name: string]: JsonValue } | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
