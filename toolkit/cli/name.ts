import { decodeAddress } from "../decode_address.ts";
import { wordName } from "../word_name.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import type { Verb } from "./verb.ts";

const help = `Print the word name that a key derives.

Usage: relay name KEY [--adjectives N] [--json]

KEY is an address (base58 of the public key).

Options:
  --adjectives N    a name with N adjectives, 1 to 1000; 1 if not given. A relay adds adjectives
                    at the end when another key has registered the shorter name first
  --json            print {"address": ..., "word_name": ...}

A name is easy to remember and no proof of identity: a key for a chosen name of three words can be
ground out in hours, and which key holds a name only the relay knows.

Exit status: 0, or 2 for what is no address, and for wrong usage.
`;

const MAX_ADJECTIVES = 1000;

const OPTIONS = { adjectives: { type: "string" }, json: { type: "boolean" } } as const;

/** `relay name`. */
export const name: Verb = {
  name: "name",
  summary: "print the word name that a key derives",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [address] } = parseOptions(args, OPTIONS, 1);
    if (address === undefined) throw new InputError("KEY is missing: pass an address", "usage");
    const derived = wordName(publicKeyOf(address), adjectiveCount(values.adjectives));
    await host.stdout(
      values.json ? `${JSON.stringify({ address, word_name: derived })}\n` : `${derived}\n`,
    );
    return ExitCode.passed;
  },
};

function publicKeyOf(address: string): Uint8Array {
  try {
    return decodeAddress(address);
  } catch (thrown) {
    throw new InputError(
      `KEY: ${thrown instanceof Error ? thrown.message : "no address"}`,
      "usage",
    );
  }
}

function adjectiveCount(value: string | undefined): number {
  const count = value === undefined ? 1 : /^\d{1,4}$/.test(value) ? Number(value) : 0;
  if (count >= 1 && count <= MAX_ADJECTIVES) return count;
  throw new InputError(`--adjectives takes a whole number from 1 to ${MAX_ADJECTIVES}`, "usage");
}
