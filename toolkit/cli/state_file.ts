import { claimTimestamp, type UsedTimestamps } from "../client/used_timestamps.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { fileFailure, readWhole } from "./read_input.ts";

/**
 * What the command line keeps beside a key file, for all processes that sign with the key: which
 * timestamps were signed, and how far each inbox was read.
 */
export interface StateFile {
  readonly usedTimestamps: UsedTimestamps;
  /** The id of the last message that was printed; 0 for none. */
  cursor(relay: string, address: string): Promise<number>;
  /** Moves the cursor on, never back. */
  keepCursor(relay: string, address: string, id: number): Promise<void>;
}

/** `{version: 1, cursors: {"RELAY ADDRESS": id}, used_timestamps: {REQUEST: [seconds]}}` */
interface State {
  readonly cursors: Map<string, number>;
  readonly used: Map<string, number[]>;
}

/**
 * The state file of a key file: beside it, for its owner's eyes only. Each change is made under a
 * file lock and replaces the file in one step.
 */
export function stateFile(host: Host, keyPath: string): StateFile {
  const path = `${keyPath}.state.json`;

  async function read(): Promise<State> {
    const text = await readOrNothing(host, path);
    const state = text === undefined ? { cursors: new Map(), used: new Map() } : parseState(text);
    if (state !== undefined) return state;
    throw new InputError(
      `'${path}' is no state file of relay: remove it; then what was printed before is printed again`,
    );
  }

  async function change<T>(make: (state: State) => T): Promise<T> {
    try {
      return await host.withLock(`${path}.lock`, async () => {
        const state = await read();
        const result = make(state);
        await host.writePrivateFile(path, stateText(state), true);
        return result;
      });
    } catch (thrown) {
      if (thrown instanceof InputError) throw thrown;
      throw new InputError(`cannot write '${path}': ${fileFailure(thrown)}`);
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
  };
}

async function readOrNothing(host: Host, path: string): Promise<Uint8Array | undefined> {
  try {
    for await (const _ of host.readFile(path)) break;
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ENOENT") return undefined;
  }
  return await readWhole(host, path);
}

function stateText({ cursors, used }: State): string {
  const file = {
    version: 1,
    cursors: Object.fromEntries(cursors),
    used_timestamps: Object.fromEntries(used),
  };
  return `${JSON.stringify(file)}\n`;
}

function parseState(text: Uint8Array): State | undefined {
  const file = objectOf(parsed(text));
  const cursors = objectOf(file?.cursors);
  const used = objectOf(file?.used_timestamps);
  if (file?.version !== 1 || cursors === undefined || used === undefined) return undefined;
  const isCount = (value: JsonValue) => Number.isSafeInteger(value) && (value as number) >= 0;
  const areCounts = (value: JsonValue) => Array.isArray(value) && value.every(isCount);
  if (!Object.values(cursors).every(isCount) || !Object.values(used).every(areCounts)) {
    return undefined;
  }
  return {
    cursors: new Map(Object.entries(cursors) as [string, number][]),
    used: new Map(Object.entries(used) as [string, number[]][]),
  };
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
