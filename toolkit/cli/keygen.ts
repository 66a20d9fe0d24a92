import { generateKeyPair } from "../generate_key_pair.ts";
import { writeKeyFile } from "../node/key_file.ts";
import { wordName } from "../word_name.ts";
import { InputError, UsageError } from "./failure.ts";
import { askPassphrase, keyPath } from "./own_keys.ts";
import { printFields } from "./print.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay keygen`. */
export const keygen = defineVerb({
  name: "keygen",
  summary: "make a key pair and keep it in a key file",
  about: `
The key file is FILE, else what RELAY_KEY_FILE names, else ~/.config/relay/key.json. It is readable
by you alone (mode 0600) and holds the private key as it is: whoever reads it can sign as you. With
--passphrase it holds the key encrypted, and each command that signs asks for the passphrase.
Printed are the address and the word name it derives; the private key is never printed.`,
  options: {
    key: option("FILE", "where to keep it"),
    passphrase: flag(
      "encrypt the key (scrypt, XChaCha20-Poly1305). The passphrase is asked for on the terminal; " +
        "a program gives it in RELAY_KEY_PASSPHRASE, or in a file that RELAY_KEY_PASSPHRASE_FILE " +
        "names. Without it the key cannot be had back",
    ),
    force: flag("replace a key file that exists; its key cannot be had back"),
    json: flag('print {"address": ..., "word_name": ..., "key_file": ...}'),
  },
  exit: "0, or 2 when there is a key file already, and for wrong usage",
  example: "relay keygen && relay register some_agent --relay https://relay.example",
  async run({ host, values, print }) {
    const path = keyPath(host, values.key);
    if (path === undefined) {
      const advice = "there is no home folder for a key file: choose a place with --key FILE";
      throw new UsageError(advice);
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
    const { address } = keys;
    const word_name = wordName(keys.publicKey);
    const words = printFields({ address, "word name": word_name, "key file": path });
    await print({ address, word_name, key_file: path }, words);
  },
});
