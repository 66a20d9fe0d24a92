import { AddressError } from "../address_error.ts";
import { decodeAddress } from "../decode_address.ts";
import { type KeyPair, keyPairFromHex } from "../generate_key_pair.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";
import { type LockedKey, lockKey, readLockedKey, unlockKey } from "./locked_key.ts";
import { fileFailure, readFileOrNothing } from "./read_file.ts";

/** A key file: whose it is can be read, its key perhaps only with a passphrase. */
export interface KeyFile {
  readonly path: string;
  readonly address: string;
  /** Undefined when it is locked. */
  readonly keys: KeyPair | undefined;
  /** Undefined when it is not. */
  readonly locked: LockedKey | undefined;
}

/**
 * Writes a key file, for its owner's eyes only: JSON {version: 1, address, private_key_hex}, or with
 * a passphrase {version: 2, address, locked_private_key}.
 *
 * @param force whether to replace one that exists, whose key is lost then
 * @returns false when there is one and `force` is false
 * @throws {FileError} when it cannot be written
 */
export async function writeKeyFile(
  files: FileSystem,
  path: string,
  keys: KeyPair,
  { force, passphrase }: { force: boolean; passphrase?: string | undefined },
): Promise<boolean> {
  const { address, privateKeyHex } = keys;
  const file = passphrase === undefined
    ? { version: 1, address, private_key_hex: privateKeyHex }
    : { version: 2, address, locked_private_key: lockKey(keys, passphrase) };
  const text = JSON.stringify(file, null, 2);
  try {
    await files.writePrivateFile(path, `${text}\n`, force);
    return true;
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "EEXIST") return false;
    throw new FileError(`cannot write '${path}': ${fileFailure(thrown)}`);
  }
}

/**
 * Reads a key file, without opening it.
 *
 * @returns undefined when there is none
 * @throws {FileError} when it cannot be read or is no key file; never with its content
 */
export async function readKeyFile(files: FileSystem, path: string): Promise<KeyFile | undefined> {
  const text = await readFileOrNothing(files, path);
  if (text === undefined) return undefined;
  const file = parseKeyFile(path, text);
  if (file !== undefined) return file;
  throw new FileError(
    `'${path}' is no key file: it must be JSON {"version":1,"address":...,"private_key_hex":...}, ` +
      "the address that of the key, or one that keygen --passphrase wrote",
  );
}

/**
 * The keys of a key file.
 *
 * @param passphrase asked for where it has one
 * @throws {FileError} for a wrong passphrase
 */
export async function openKeyFile(
  { path, address, keys, locked }: KeyFile,
  passphrase: () => string | Promise<string>,
): Promise<KeyPair> {
  if (locked === undefined) return keys!;
  const opened = unlockKey(locked, address, await passphrase());
  if (opened !== undefined) return opened;
  throw new FileError(`the passphrase does not open '${path}', or the file was changed`);
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
