import { AddressError } from "../address_error.ts";
import { decodeAddress } from "../decode_address.ts";
import { type KeyPair, keyPairFromHex } from "../generate_key_pair.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { type LockedKey, lockKey, readLockedKey, unlockKey } from "./locked_key.ts";
import { askPassphrase } from "./passphrase.ts";
import { fileFailure, readWhole } from "./read_input.ts";

/** A key file: whose it is can be read, its key perhaps only with a passphrase. */
export interface KeyFile {
  readonly path: string;
  readonly address: string;
  /** Undefined when it is locked. */
  readonly keys: KeyPair | undefined;
  /** Undefined when it is not. */
  readonly locked: LockedKey | undefined;
}

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
 * @throws {InputError} for an empty name: a script's unset variable must not choose the default key
 */
export function keyFileLocation(
  host: Host,
  option: string | undefined,
): KeyFileLocation | undefined {
  if (option === "") throw new InputError("--key names no file", "usage");
  const chosen = option ?? host.env("RELAY_KEY_FILE");
  if (chosen) return { path: chosen, isChosen: true };
  const home = host.env("HOME") || host.env("USERPROFILE");
  return home ? { path: `${home}/.config/relay/key.json`, isChosen: false } : undefined;
}

/**
 * Writes a key file, for its owner's eyes only: JSON {version: 1, address, private_key_hex}, or with
 * a passphrase {version: 2, address, locked_private_key}.
 *
 * @param force whether to replace one that exists, whose key is lost then
 * @throws {InputError} when there is one and `force` is false, or it cannot be written
 */
export async function writeKeyFile(
  host: Host,
  path: string,
  keys: KeyPair,
  { force, passphrase }: { force: boolean; passphrase?: string | undefined },
): Promise<void> {
  const { address, privateKeyHex } = keys;
  const file = passphrase === undefined
    ? { version: 1, address, private_key_hex: privateKeyHex }
    : { version: 2, address, locked_private_key: lockKey(keys, passphrase) };
  const text = JSON.stringify(file, null, 2);
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
 * Reads a key file, without opening it.
 *
 * @returns undefined when there is none and the caller did not choose the place
 * @throws {InputError} when it cannot be read or is no key file; never with its content
 */
export async function readKeyFile(
  host: Host,
  { path, isChosen }: KeyFileLocation,
): Promise<KeyFile | undefined> {
  if (!isChosen && await isMissing(host, path)) return undefined;
  const file = parseKeyFile(path, await readWhole(host, path));
  if (file !== undefined) return file;
  throw new InputError(
    `'${path}' is no key file: it must be JSON {"version":1,"address":...,"private_key_hex":...}, ` +
      "the address that of the key, or one that keygen --passphrase wrote",
  );
}

/**
 * The keys of a key file; asks for its passphrase where it has one.
 *
 * @throws {InputError} for a wrong passphrase, or none
 */
export async function openKeyFile(
  host: Host,
  { path, address, keys, locked }: KeyFile,
): Promise<KeyPair> {
  if (locked === undefined) return keys!;
  const opened = unlockKey(locked, address, await askPassphrase(host, false));
  if (opened !== undefined) return opened;
  throw new InputError(`the passphrase does not open '${path}', or the file was changed`);
}

async function isMissing(host: Host, path: string): Promise<boolean> {
  try {
    for await (const _ of host.readFile(path)) break;
    return false;
  } catch (thrown) {
    return (thrown as { code?: unknown }).code === "ENOENT";
  }
}

function parseKeyFile(path: string, text: Uint8Array): KeyFile | undefined {
  try {
    const file = parseStrict(text) as { [name: string]: JsonValue } | null;
    const address = file?.address;
    if (typeof address !== "string") return undefined;
    decodeAddress(address);
    if (file?.version === 2) {
      const locked = readLockedKey(file.locked_private_key);
      return locked && { path, address, keys: undefined, locked };
    }
    if (file?.version !== 1 || typeof file.private_key_hex !== "string") return undefined;
    const keys = keyPairFromHex(file.private_key_hex);
    return keys.address === address ? { path, address, keys, locked: undefined } : undefined;
  } catch (thrown) {
    const isExpected = thrown instanceof JsonError || thrown instanceof AddressError ||
      thrown instanceof TypeError;
    if (isExpected) return undefined;
    throw thrown;
  }
}
