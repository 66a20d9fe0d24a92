import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { readWhole } from "./read_input.ts";

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
  if (file) return filled(firstLine(await readWhole(host, file)), `'${file}' is empty`);
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

function firstLine(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).split(/\r?\n/, 1)[0]!;
}
