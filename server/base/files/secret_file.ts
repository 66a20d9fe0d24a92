/** Secrets that a relay makes for itself, as files of the data folder for its owner's eyes only. */
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { flushFolder } from "./flush_folder.ts";
import { ifThere } from "./if_there.ts";

/** How a secret stands in its file. */
export interface SecretForm {
  encode(secret: Uint8Array): string;
  /** Null for what is none. */
  decode(text: string): Uint8Array | null;
  /** What follows the path where the file holds no such secret. */
  advice: string;
}

/**
 * The secret of a file, or null where there is no file. Its name is on the disk when this returns:
 * its maker may have been killed before it was.
 * @throws Error naming the path and the form's advice when the file holds anything else
 */
export async function readSecretFile(path: string, form: SecretForm): Promise<Uint8Array | null> {
  const text = await ifThere(Deno.readTextFile(path));
  if (text === null) return null;
  const secret = form.decode(text.trim());
  if (secret === null) throw new Error(`${path} ${form.advice}`);
  await flushFolder(dirname(path));
  return secret;
}

/**
 * Writes a secret whole or not at all, on the disk when this returns.
 * @returns the secret of the file: of several relays that begin at once, the first one's
 * @throws Error as readSecretFile()
 */
export async function makeSecretFile(
  path: string,
  secret: Uint8Array,
  form: SecretForm,
): Promise<Uint8Array> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${form.encode(secret)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await Deno.link(draft, path);
    await flushFolder(dirname(path));
    return secret;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return (await readSecretFile(path, form))!;
  } finally {
    await Deno.remove(draft);
  }
}
