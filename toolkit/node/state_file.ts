import { claimTimestamp, type UsedTimestamps } from "../client/used_timestamps.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";
import { fileFailure, readFileOrNothing } from "./read_file.ts";
import { type HomeRelay, parseState, type State, stateText } from "./state_text.ts";

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
  const path = `${keyPath}.state.json`;

  async function read(): Promise<State> {
    const text = await readFileOrNothing(files, path);
    const state = parseState(text);
    if (state !== undefined) return state;
    throw new FileError(
      `'${path}' is no state file of relay: remove it; then messages that were handled before come ` +
        "again",
    );
  }

  async function change<T>(make: (state: State) => T): Promise<T> {
    try {
      return await files.withLock(`${path}.lock`, async () => {
        const state = await read();
        const result = make(state);
        await files.writePrivateFile(path, stateText(state), true);
        return result;
      });
    } catch (thrown) {
      if (thrown instanceof FileError) throw thrown;
      throw new FileError(`cannot write '${path}': ${fileFailure(thrown)}`);
    }
  }

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
