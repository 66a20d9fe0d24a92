import { parseIdentifier } from "../client/identifier.ts";
import type { Pins } from "../client/pins.ts";
import { decodeAddress } from "../decode_address.ts";
import { isWordNameOf } from "../is_word_name_of.ts";
import { normalHandle } from "../recipient.ts";

/** What a relay says of an agent. */
export interface ShownAgent {
  /** Checked to be one. */
  readonly address: string;
  readonly handle: string;
  readonly wordName: string;
}

/**
 * An agent in a line for people: its key, after the name that it is pinned by. What only the relay
 * says comes after the key, and only in the form of a name. No name can then look like a key or
 * like the command line's own words.
 */
export function describeAgent(agent: ShownAgent, pins: Pins): string {
  const { address, handle, wordName } = agent;
  const names = [describeWordName(wordName, address)];
  const isHandle = normalHandle(handle) === handle;
  const pinned = pinnedName(agent, pins);
  if (!isHandle || pinned !== `@${handle}`) names.push(isHandle ? `@${handle}` : "no handle");
  for (const name of contradictedPins(agent, pins)) names.push(`NOT THE KEY PINNED AS ${name}`);
  return `${keyAndName(agent, pins)} (${names.join(", ")})`;
}

/** A key, after the name that it is pinned by. */
export function keyAndName(agent: ShownAgent, pins: Pins): string {
  const pinned = pinnedName(agent, pins);
  return pinned === undefined ? agent.address : `${pinned} ${agent.address}`;
}

/** The shown name that a key is pinned under. */
function pinnedName(agent: ShownAgent, pins: Pins): string | undefined {
  return shownNames(agent).find((name) => pins.addressOf(name) === agent.address);
}

function contradictedPins(agent: ShownAgent, pins: Pins): string[] {
  return shownNames(agent).filter((name) =>
    (pins.addressOf(name) ?? agent.address) !== agent.address
  );
}

/** In their normal spelling, where they have the form of names. */
function shownNames({ handle, wordName }: ShownAgent): string[] {
  const normal = normalHandle(handle);
  return [
    ...normal === undefined ? [] : [`@${normal}`],
    ...isWordName(wordName) ? [wordName.toLowerCase()] : [],
  ];
}

function describeWordName(wordName: string, address: string): string {
  if (!isWordName(wordName)) return "no word name";
  return isWordNameOf(wordName, decodeAddress(address))
    ? wordName
    : `${wordName} IS NO NAME OF THIS KEY`;
}

/** Names have three words, and one more for each key that came first: never so many. */
const MAX_WORD_NAME_LENGTH = 200;

function isWordName(text: string): boolean {
  if (text.length > MAX_WORD_NAME_LENGTH) return false;
  try {
    return parseIdentifier(text).form === "word_name";
  } catch {
    return false;
  }
}
