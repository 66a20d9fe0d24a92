import { generateKeyPair } from "../generate_key_pair.ts";
import { wordName } from "../word_name.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { keyFileLocation, writeKeyFile } from "./key_file.ts";
import { parseOptions } from "./parse_options.ts";
import type { Verb } from "./verb.ts";

const help = `Make a key pair and keep it in a key file.

Usage: relay keygen [--key FILE] [--force] [--json]

The key file is FILE, else what RELAY_KEY_FILE names, else ~/.config/relay/key.json. It holds the
private key unencrypted, readable by you alone (mode 0600): whoever reads it can sign as you.
Printed are the address and the word name it derives; the private key is never printed.

Options:
  --key FILE    where to keep it
  --force       replace a key file that exists; its key cannot be had back
  --json        print {"address": ..., "word_name": ..., "key_file": ...}

Exit status: 0, or 2 when there is a key file already, and for wrong usage.
`;

const OPTIONS = {
  key: { type: "string" },
  force: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** `relay keygen`. */
export const keygen: Verb = {
  name: "keygen",
  summary: "make a key pair and keep it in a key file",
  help,
  async run(args, host) {
    const { values } = parseOptions(args, OPTIONS, 0);
    const path = keyFileLocation(host, values.key)?.path;
    if (path === undefined) {
      const advice = "there is no home folder for a key file: choose a place with --key FILE";
      throw new InputError(advice, "usage");
    }
    const keys = generateKeyPair();
    await writeKeyFile(host, path, keys, values.force === true);
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
