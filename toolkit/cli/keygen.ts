import { generateKeyPair } from "../generate_key_pair.ts";
import { writeKeyFile } from "../node/key_file.ts";
import { wordName } from "../word_name.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { keyLocation } from "./key_location.ts";
import { parseOptions } from "./parse_options.ts";
import { askPassphrase } from "./passphrase.ts";
import type { Verb } from "./verb.ts";

const help = `Make a key pair and keep it in a key file.

Usage: relay keygen [--key FILE] [--passphrase] [--force] [--json]

The key file is FILE, else what RELAY_KEY_FILE names, else ~/.config/relay/key.json. It is readable
by you alone (mode 0600) and holds the private key as it is: whoever reads it can sign as you. With
--passphrase it holds the key encrypted, and each command that signs asks for the passphrase.
Printed are the address and the word name it derives; the private key is never printed.

Options:
  --key FILE      where to keep it
  --passphrase    encrypt the key (scrypt, XChaCha20-Poly1305). The passphrase is asked for on the
                  terminal; a program gives it in RELAY_KEY_PASSPHRASE, or in a file that
                  RELAY_KEY_PASSPHRASE_FILE names. Without it the key cannot be had back
  --force         replace a key file that exists; its key cannot be had back
  --json          print {"address": ..., "word_name": ..., "key_file": ...}

Exit status: 0, or 2 when there is a key file already, and for wrong usage.

Example:
  relay keygen && relay register some_agent --relay https://relay.example
`;

const OPTIONS = {
  key: { type: "string" },
  passphrase: { type: "boolean" },
  force: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** `relay keygen`. */
export const keygen: Verb = {
  name: "keygen",
  summary: "make a key pair and keep it in a key file",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values } = parseOptions(args, OPTIONS, 0);
    const path = keyLocation(host, values.key)?.path;
    if (path === undefined) {
      const advice = "there is no home folder for a key file: choose a place with --key FILE";
      throw new InputError(advice, "usage");
    }
    const passphrase = values.passphrase ? await askPassphrase(host, true) : undefined;
    const keys = generateKeyPair();
    const force = values.force === true;
    if (!await writeKeyFile(host, path, keys, { force, passphrase })) {
      throw new InputError(
        `there is a key file at '${path}' already: choose another place with --key, or replace ` +
          "it with --force; its key cannot be had back then",
      );
    }
    const made = {
      address: keys.address,
      word_name: wordName(keys.publicKey),
      key_file: path,
    };
    await host.stdout(
      values.json
        ? `${JSON.stringify(made)}\n`
        : `address    ${made.address}\nword name  ${made.word_name}\nkey file   ${path}\n`,
    );
    return ExitCode.passed;
  },
};
