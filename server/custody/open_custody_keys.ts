/** Where custody keys come from: the configuration, or a file that a local run makes for itself. */
import { base64 } from "@scure/base";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";

const KEY_FILE = "custody.key";
const KEY_BYTES = 32;

/** Path of the generated key. */
export function custodyKeyPath(config: Pick<Config, "dataDir">): string {
  return join(config.dataDir, KEY_FILE);
}

/**
 * The custody keys, the encrypting one first; none where a hosted relay was given none.
 * @param mayMake whether a missing key may be made: not where the store was written under another that may turn up
 * @throws Error when the key file holds anything else than base64 of 32 bytes
 */
export async function openCustodyKeys(
  config: Pick<Config, "custodyKeys" | "hosted" | "dataDir">,
  random: (sizeBytes: number) => Uint8Array,
  mayMake: boolean,
): Promise<Uint8Array[]> {
  if (config.custodyKeys.length > 0) return config.custodyKeys;
  // The disk of a hosted relay may be an instance's own: a key made there would die with it.
  if (config.hosted) return [];
  const path = custodyKeyPath(config);
  const found = await readKeyFile(path);
  if (found !== null) return [found];
  return mayMake ? [await makeKeyFile(path, random(KEY_BYTES))] : [];
}

/** The key of a file, or null where there is no file. @throws Error as openCustodyKeys */
export async function readKeyFile(path: string): Promise<Uint8Array | null> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  let key: Uint8Array | null = null;
  try {
    key = base64.decode(text.trim());
  } catch {
    // Said below.
  }
  if (key?.length !== KEY_BYTES) {
    throw new Error(
      `${path} must hold base64 of ${KEY_BYTES} bytes, the custody key; restore it from a backup: without it the relay-held keys in the store are lost`,
    );
  }
  return key;
}

/** Writes the key whole or not at all; of several relays that begin at once, the first wins. */
async function makeKeyFile(path: string, key: Uint8Array): Promise<Uint8Array> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${crypto.randomUUID()}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${base64.encode(key)}\n`);
    // On the disk before any row in the store that needs it.
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await Deno.link(draft, path);
    return key;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return (await readKeyFile(path))!;
  } finally {
    await Deno.remove(draft);
  }
}
