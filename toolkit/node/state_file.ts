import { claimTimestamp, type UsedTimestamps } from "../client/used_timestamps.ts";
import type { JsonValue } from "../json_value.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";
import { privateFile } from "./private_file.ts";

/** The relay that a key belongs to, and the agent's names there, once known. */
export interface HomeRelay {
  /** Its origin. */
  readonly relay: string;
  readonly handle?: string;
  readonly word_name?: string;
}

/**
 * What is kept beside a key file, for all processes that sign with the key. It holds the signed
 * timestamps, how far each inbox was read, and which relay the key belongs to.
 */
export interface StateFile {
  readonly usedTimestamps: UsedTimestamps;
  /** The id of the last message that was handled; 0 for none. */
  cursor(relay: string, address: string): Promise<number>;
  /** Moves the cursor on, never back. */
  keepCursor(relay: string, address: string, id: number): Promise<void>;
  /** The relay that the key belongs to, and what it is called there; undefined before its first use. */
  home(): Promise<HomeRelay | undefined>;
  /**
   * Remembers the first relay and, later, its names for the agent. Another relay changes nothing.
   * Only a warning and the defaults of `relay verify` use it. If nothing can be written, it is not
   * kept, and everything else works.
   */
  keepHome(home: HomeRelay): Promise<void>;
}

/**
 * The state file of a key file: beside it, for its owner's eyes only. Each change is made under a
 * file lock and replaces the file in one step.
 *
 * @throws {FileError} in each of its functions but keepHome, when it is none or cannot be written
 */
export function stateFile(files: FileSystem, keyPath: string): StateFile {
  const { read, change } = privateFile<State>(files, `${keyPath}.state.json`, {
    empty: () => ({ cursors: new Map(), used: new Map(), home: undefined }),
    parse: parseState,
    write: stateText,
    advice: "state file of relay: remove it; then messages that were handled before come again",
  });
  const name = (relay: string, address: string) => `${relay} ${address}`;
  return {
    usedTimestamps: {
      claim: (request, nowSeconds) =>
        change(({ used }) => claimTimestamp(used, request, nowSeconds)),
    },
    async cursor(relay, address) {
      return (await read()).cursors.get(name(relay, address)) ?? 0;
    },
    async keepCursor(relay, address, id) {
      await change(({ cursors }) => {
        const before = cursors.get(name(relay, address)) ?? 0;
        cursors.set(name(relay, address), Math.max(before, id));
      });
    },
    async home() {
      return (await read()).home;
    },
    async keepHome(home) {
      try {
        const before = (await read()).home;
        if (before !== undefined && !isNews(before, home)) return;
        await change((state) => {
          if (state.home === undefined || state.home.relay === home.relay) {
            state.home = { ...state.home, ...home };
          }
        });
      } catch (thrown) {
        if (!(thrown instanceof FileError)) throw thrown;
      }
    },
  };
}

function isNews(before: HomeRelay, home: HomeRelay): boolean {
  return before.relay === home.relay && (
    (home.handle ?? before.handle) !== before.handle ||
    (home.word_name ?? before.word_name) !== before.word_name
  );
}

/** What a state file holds. */
interface State {
  readonly cursors: Map<string, number>;
  readonly used: Map<string, number[]>;
  home: HomeRelay | undefined;
}

/** `{version: 1, home?: {relay, handle?, word_name?}, cursors: {"RELAY ADDRESS": id}, used_timestamps: {REQUEST: [seconds]}}` */
function stateText({ cursors, used, home }: State): string {
  const file = {
    version: 1,
    home,
    cursors: Object.fromEntries(cursors),
    used_timestamps: Object.fromEntries(used),
  };
  return `${JSON.stringify(file)}\n`;
}

/** @returns undefined when it is none */
function parseState(value: JsonValue): State | undefined {
  const file = objectOf(value);
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

function objectOf(value: JsonValue | undefined): { [name: string]: JsonValue } | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
