/** Where custody keys come from: the configuration, or a file that a local run makes for itself. */
import { base64 } from "@scure/base";
import { join } from "node:path";
import type { Config } from "../../base/config/config.ts";
import { makeSecretFile, readSecretFile, type SecretForm } from "../../base/files/secret_file.ts";

const KEY_FILE = "custody.key";
const KEY_BYTES = 32;

const KEY_FORM: SecretForm = {
  encode: (key) => base64.encode(key),
  decode: decodeKey,
  advice:
    `must hold base64 of ${KEY_BYTES} bytes, the custody key; restore it from a backup: without it the relay-held keys in the store are lost`,
};

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
  // On the disk before any row in the store that needs it.
  return mayMake ? [await makeSecretFile(path, random(KEY_BYTES), KEY_FORM)] : [];
}

/** The key of a file, or null where there is no file. @throws Error as openCustodyKeys */
export function readKeyFile(path: string): Promise<Uint8Array | null> {
  return readSecretFile(path, KEY_FORM);
}

function decodeKey(text: string): Uint8Array | null {
  try {
    const key = base64.decode(text);
    return key.length === KEY_BYTES ? key : null;
  } catch {
    return null;
  }
}
