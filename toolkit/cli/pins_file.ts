import { checkedPin, createPins, type PinnedAddresses, type Pins } from "../client/pins.ts";
import { JsonError } from "../json_error.ts";
import { FileError } from "../node/file_error.ts";
import { fileFailure, readFileOrNothing } from "../node/read_file.ts";
import { parseStrict } from "../parse_strict.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { settingsFile } from "./own_keys.ts";

/** The known senders of the person at this command line, whichever key and relay they use. */
export interface PinsFile {
  /** By handles, word names and addresses in one spelling: in the order in which they were pinned. */
  read(): Promise<Map<string, string>>;
  /** Changes them under a file lock, in one step. */
  change<T>(make: (pinned: Map<string, string>) => T): Promise<T>;
}

/**
 * What RELAY_PINS_FILE names, else ~/.config/relay/pins.json: JSON {version: 1, pins: {NAME: ADDRESS}}.
 *
 * @throws {FileError} in each of its functions, when it is none or cannot be written
 */
export function pinsFile(host: Host): PinsFile {
  const path = host.env("RELAY_PINS_FILE") || settingsFile(host, "pins.json");

  async function read(): Promise<Map<string, string>> {
    const text = path === undefined ? undefined : await readFileOrNothing(host, path);
    const pinned = text === undefined ? new Map<string, string>() : parsePins(text);
    if (pinned !== undefined) return pinned;
    throw new FileError(
      `'${path}' is no file of pins: mend it, or remove it and pin anew; it must be JSON ` +
        `{"version":1,"pins":{"HANDLE, WORD NAME OR ADDRESS":"ADDRESS"}}`,
    );
  }

  return {
    read,
    async change(make) {
      if (path === undefined) {
        throw new InputError("there is no home folder for pins: name a file in RELAY_PINS_FILE");
      }
      try {
        return await host.withLock(`${path}.lock`, async () => {
          const pinned = await read();
          const result = make(pinned);
          const file = { version: 1, pins: Object.fromEntries(pinned) };
          await host.writePrivateFile(path, `${JSON.stringify(file, null, 2)}\n`, true);
          return result;
        });
      } catch (thrown) {
        if (thrown instanceof FileError || thrown instanceof InputError) throw thrown;
        throw new FileError(`cannot write '${path}': ${fileFailure(thrown)}`);
      }
    },
  };
}

/** The pins of the person at this command line; none where there is no file. */
export async function readPins(host: Host): Promise<{ pinned: PinnedAddresses; pins: Pins }> {
  const pinned = Object.fromEntries(await pinsFile(host).read());
  return { pinned, pins: createPins(pinned) };
}

function parsePins(text: Uint8Array): Map<string, string> | undefined {
  try {
    const file = parseStrict(text) as { version?: unknown; pins?: unknown } | null;
    if (file?.version !== 1 || typeof file.pins !== "object" || file.pins === null) {
      return undefined;
    }
    const pinned = new Map<string, string>();
    for (const [name, address] of Object.entries(file.pins)) {
      if (typeof address !== "string") return undefined;
      const { text } = checkedPin(name, address);
      // Two spellings of one name: which of them counts would be chance.
      if (pinned.has(text)) return undefined;
      pinned.set(text, address);
    }
    return pinned;
  } catch (thrown) {
    if (thrown instanceof JsonError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
