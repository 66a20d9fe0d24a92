import type { FileSystem } from "./file_system.ts";

/**
 * The warning about a key file that others than its owner may read or write; undefined when none may.
 *
 * @returns a sentence without its end, with the command that mends it
 */
export async function permissionWarning(
  files: FileSystem,
  path: string,
): Promise<string | undefined> {
  const mode = await files.fileMode(path);
  if (mode === undefined || (mode & 0o066) === 0) return undefined;
  const octal = mode.toString(8).padStart(4, "0");
  const what = (mode & 0o044) === 0
    ? `change the key file (mode ${octal})`
    : `read the key file (mode ${octal}) and sign with it`;
  return `others may ${what}: run chmod 600 ${shellWord(path)}`;
}

/**
 * The warning about a key that is used at a second relay.
 *
 * @param home the relay that the key was used at first
 * @param relay where it is used now
 */
export function secondRelayWarning(home: string, relay: string, path: string): string {
  return `the key in '${path}' belongs to ${home} and is used at ${relay} now: a signature names no ` +
    "relay, so that each of both can present at the other what was signed for it. Make a key for " +
    `each relay. If the relay has moved, remove "home" from '${path}.state.json'`;
}

function shellWord(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
