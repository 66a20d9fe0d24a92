import { checkedPin, createPins, type PinnedAddresses, type Pins } from "../client/pins.ts";
import type { JsonValue } from "../json_value.ts";
import { type PrivateFile, privateFile } from "../node/private_file.ts";
import type { Host } from "./host.ts";
import { InputError } from "./failure.ts";
import { settingsFile } from "./own_keys.ts";

/** By handles, word names and addresses in one spelling, in the order of pinning. */
type Pinned = Map<string, string>;

/**
 * The known senders of the person at this command line, whichever key and relay they use, in the
 * file that RELAY_PINS_FILE names, else ~/.config/relay/pins.json.
 *
 * @throws {FileError} in each of its functions, when it is none or cannot be written
 */
export function pinsFile(host: Host): PrivateFile<Pinned> {
  const path = host.env("RELAY_PINS_FILE") || settingsFile(host, "pins.json");
  if (path === undefined) {
    const advice = "there is no home folder for pins: name a file in RELAY_PINS_FILE";
    return {
      read: () => Promise.resolve(new Map()),
      change: () => Promise.reject(new InputError(advice)),
    };
  }
  return privateFile<Pinned>(host, path, {
    empty: () => new Map(),
    parse: parsePins,
    write: (pinned) =>
      `${JSON.stringify({ version: 1, pins: Object.fromEntries(pinned) }, null, 2)}\n`,
    advice: "file of pins: mend it, or remove it and pin anew; it must be JSON " +
      `{"version":1,"pins":{"HANDLE, WORD NAME OR ADDRESS":"ADDRESS"}}`,
  });
}

/** The pins of the person at this command line; none where there is no file. */
export async function readPins(host: Host): Promise<{ pinned: PinnedAddresses; pins: Pins }> {
  const pinned = Object.fromEntries(await pinsFile(host).read());
  return { pinned, pins: createPins(pinned) };
}

function parsePins(value: JsonValue): Pinned | undefined {
  const file = value as { version?: unknown; pins?: unknown } | null;
  if (file?.version !== 1 || typeof file.pins !== "object" || file.pins === null) return undefined;
  const pinned: Pinned = new Map();
  for (const [name, address] of Object.entries(file.pins)) {
    const text = typeof address === "string" ? spellingOf(name, address) : undefined;
    // Two spellings of one name: which of them counts would be chance.
    if (text === undefined || pinned.has(text)) return undefined;
    pinned.set(text, address);
  }
  return pinned;
}

function spellingOf(name: string, address: string): string | undefined {
  try {
    return checkedPin(name, address).text;
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
