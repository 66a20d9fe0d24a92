import { generateKeyPair, type KeyPair } from "../generate_key_pair.ts";
import { FileError } from "./file_error.ts";
import type { FileSystem } from "./file_system.ts";
import { openKeyFile, readKeyFile, writeKeyFile } from "./key_file.ts";

/**
 * The keys of a key file; makes them, and the file, where there is none. Of several processes that
 * do so at once one makes them, and all have the same.
 *
 * @param passphrase what locks the key in the file; undefined: nothing does
 * @throws {FileError} for a file that is none or cannot be written, and a wrong or missing passphrase
 */
export async function loadOrMakeKeys(
  files: FileSystem,
  path: string,
  passphrase: string | undefined,
): Promise<{ keys: KeyPair; isNew: boolean }> {
  return await files.withLock(`${path}.lock`, async () => {
    const found = await readKeyFile(files, path);
    if (found !== undefined) {
      return { keys: await openKeyFile(found, () => required(path, passphrase)), isNew: false };
    }
    const keys = generateKeyPair();
    if (await writeKeyFile(files, path, keys, { force: false, passphrase })) {
      return { keys, isNew: true };
    }
    throw new FileError(`'${path}' was made by another program just now: open it again`);
  });
}

function required(path: string, passphrase: string | undefined): string {
  if (passphrase !== undefined) return passphrase;
  throw new FileError(`the key in '${path}' has a passphrase: pass it`);
}
