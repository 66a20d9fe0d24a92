import { FileError } from "../node/file_error.ts";
import { type KeyFile, readKeyFile } from "../node/key_file.ts";
import { permissionWarning } from "../node/key_warnings.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { printable } from "./printable.ts";

/** Where the key file is, and whether the caller said so. */
export interface KeyLocation {
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
export function keyLocation(host: Host, option: string | undefined): KeyLocation | undefined {
  if (option === "") throw new InputError("--key names no file", "usage");
  const chosen = option ?? host.env("RELAY_KEY_FILE");
  if (chosen) return { path: chosen, isChosen: true };
  const folder = settingsFolder(host);
  return folder === undefined ? undefined : { path: `${folder}/key.json`, isChosen: false };
}

/** ~/.config/relay; undefined when there is no home folder. */
export function settingsFolder(host: Host): string | undefined {
  const home = host.env("HOME") || host.env("USERPROFILE");
  return home ? `${home}/.config/relay` : undefined;
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
  const location = keyLocation(host, option);
  const file = location && await readKeyFile(host, location.path);
  if (file === undefined) {
    if (!location?.isChosen) return undefined;
    throw new FileError(`cannot read '${location.path}': there is no such file`);
  }
  const warning = await permissionWarning(host, file.path);
  if (warning !== undefined) await host.stderr(`relay: ${printable(warning)}\n`);
  return file;
}
