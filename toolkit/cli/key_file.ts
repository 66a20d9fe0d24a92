import { type KeyPair, keyPairFromHex } from "../generate_key_pair.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { fileFailure, readWhole } from "./read_input.ts";

/** Where the key file is, and whether the caller said so. */
export interface KeyFileLocation {
  readonly path: string;
  /** True for --key and RELAY_KEY_FILE, false for the place where it is by default. */
  readonly isChosen: boolean;
}

/**
 * Where the key file is: --key, else RELAY_KEY_FILE, else ~/.config/relay/key.json.
 *
 * @param option the value of --key
 * @returns undefined when none is chosen and there is no home folder
 */
export function keyFileLocation(
  host: Host,
  option: string | undefined,
): KeyFileLocation | undefined {
  const chosen = option ?? host.env("RELAY_KEY_FILE");
  if (chosen) return { path: chosen, isChosen: true };
  const home = host.env("HOME") || host.env("USERPROFILE");
  return home ? { path: `${home}/.config/relay/key.json`, isChosen: false } : undefined;
}

/**
 * Writes a key file: JSON {version: 1, address, private_key_hex}, for its owner's eyes only.
 *
 * @param force whether to replace one that exists, whose key is lost then
 * @throws {InputError} when there is one and `force` is false, or it cannot be written
 */
export async function writeKeyFile(
  host: Host,
  path: string,
  keys: KeyPair,
  force: boolean,
): Promise<void> {
  const { address, privateKeyHex } = keys;
  const text = JSON.stringify({ version: 1, address, private_key_hex: privateKeyHex }, null, 2);
  try {
    await host.writePrivateFile(path, `${text}\n`, force);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "EEXIST") {
      throw new InputError(
        `there is a key file at '${path}' already: choose another place with --key, or replace ` +
          "it with --force; its key cannot be had back then",
      );
    }
    throw new InputError(`cannot write '${path}': ${fileFailure(thrown)}`);
  }
}

/**
 * Reads a key file.
 *
 * @returns undefined when there is none and the caller did not choose the place
 * @throws {InputError} when it cannot be read or is no key file; never with its content
 */
export async function readKeyFile(
  host: Host,
  { path, isChosen }: KeyFileLocation,
): Promise<KeyPair | undefined> {
  if (!isChosen && await isMissing(host, path)) return undefined;
  const text = await readWhole(host, path);
  const keys = keysOf(text);
  if (keys !== undefined) return keys;
  throw new InputError(
    `'${path}' is no key file: it must be JSON {"version":1,"address":...,"private_key_hex":...}, ` +
      "the address that of the key",
  );
}

async function isMissing(host: Host, path: string): Promise<boolean> {
  try {
    for await (const _ of host.readFile(path)) break;
    return false;
  } catch (thrown) {
    return (thrown as { code?: unknown }).code === "ENOENT";
  }
}

function keysOf(text: Uint8Array): KeyPair | undefined {
  try {
    const file = parseStrict(text) as { [name: string]: JsonValue } | null;
    if (file?.version !== 1 || typeof file.private_key_hex !== "string") return undefined;
    const keys = keyPairFromHex(file.private_key_hex);
    return keys.address === file.address ? keys : undefined;
  } catch (thrown) {
    if (thrown instanceof JsonError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}
