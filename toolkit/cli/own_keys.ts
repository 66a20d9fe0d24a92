import type { KeyPair } from "../generate_key_pair.ts";
import { FileError } from "../node/file_error.ts";
import { type KeyFile, openKeyFile, readKeyFile } from "../node/key_file.ts";
import { permissionWarning } from "../node/key_warnings.ts";
import { type StateFile, stateFile } from "../node/state_file.ts";
import type { Host } from "./host.ts";
import { InputError, UsageError } from "./failure.ts";
import { printable } from "./printable.ts";
import { readWhole } from "./read_input.ts";
import { option } from "./verb.ts";

/** The option of every verb that uses a key. */
export const KEY = option(
  "FILE",
  "the key file; else RELAY_KEY_FILE, else ~/.config/relay/key.json",
);

/**
 * Where the key file is: --key, else RELAY_KEY_FILE, else ~/.config/relay/key.json.
 *
 * @param option the value of --key
 * @returns undefined when none is chosen and there is no home folder
 * @throws {InputError} for an empty name: a script's unset variable must not choose the default key
 */
export function keyPath(host: Host, option: string | undefined): string | undefined {
  if (option === "") throw new UsageError("--key names no file");
  return option ?? (host.env("RELAY_KEY_FILE") || settingsFile(host, "key.json"));
}

/** A file in ~/.config/relay; undefined when there is no home folder. */
export function settingsFile(host: Host, name: string): string | undefined {
  const home = host.env("HOME") || host.env("USERPROFILE");
  return home ? `${home}/.config/relay/${name}` : undefined;
}

/**
 * Reads the key file, without opening it, and tells on standard error when others may read it.
 *
 * @param option the value of --key
 * @returns undefined when there is none and the caller did not choose the place
 * @throws {FileError} when it cannot be read or is no key file
 */
export async function findKeyFile(
  host: Host,
  option: string | undefined,
): Promise<KeyFile | undefined> {
  const path = keyPath(host, option);
  const file = path === undefined ? undefined : await readKeyFile(host, path);
  if (file === undefined) {
    if (option === undefined && !host.env("RELAY_KEY_FILE")) return undefined;
    throw new FileError(`cannot read '${path}': there is no such file`);
  }
  const warning = await permissionWarning(host, file.path);
  if (warning !== undefined) await host.stderr(`relay: ${printable(warning)}\n`);
  return file;
}

/**
 * The keys of the key file that the caller chose, and what is kept beside it.
 *
 * @param option the value of --key
 * @throws {InputError | FileError} when there is none, or it does not open
 */
export async function openKeys(
  host: Host,
  option: string | undefined,
): Promise<{ keys: KeyPair; state: StateFile; path: string }> {
  const file = await findKeyFile(host, option);
  if (file !== undefined) {
    const keys = await openKeyFile(file, () => askPassphrase(host, false));
    return { keys, state: stateFile(host, file.path), path: file.path };
  }
  const path = keyPath(host, option);
  const where = path === undefined ? "" : ` at '${path}'`;
  throw new InputError(
    `there is no key file${where}: make one with 'relay keygen', or name one with --key FILE`,
  );
}

/**
 * The passphrase of the key file: RELAY_KEY_PASSPHRASE, else the first line of the file that
 * RELAY_KEY_PASSPHRASE_FILE names, else what a person types.
 *
 * @param isNew whether it is being chosen: then it is typed twice
 * @throws {InputError} when there is none
 */
export async function askPassphrase(host: Host, isNew: boolean): Promise<string> {
  const given = host.env("RELAY_KEY_PASSPHRASE");
  if (given) return given;
  const file = host.env("RELAY_KEY_PASSPHRASE_FILE");
  if (file) {
    const [line] = new TextDecoder().decode(await readWhole(host, file)).split(/\r?\n/, 1);
    return filled(line!, `'${file}' is empty`);
  }
  if (!host.isTerminal("stdin")) {
    throw new InputError(
      "the key file has a passphrase, and nobody is here to type it: give it in " +
        "RELAY_KEY_PASSPHRASE, or name a file that holds it in RELAY_KEY_PASSPHRASE_FILE",
    );
  }
  const typed = filled(await typeSecret(host, "Passphrase of the key file: "), "it is empty");
  if (isNew && await typeSecret(host, "The same again: ") !== typed) {
    throw new InputError("the two passphrases differ; nothing was written");
  }
  return typed;
}

async function typeSecret(host: Host, prompt: string): Promise<string> {
  try {
    return await host.askSecret(prompt);
  } catch (thrown) {
    throw new InputError(thrown instanceof Error ? thrown.message : "no passphrase was typed");
  }
}

function filled(text: string, otherwise: string): string {
  if (text !== "") return text;
  throw new InputError(`there is no passphrase: ${otherwise}`);
}
