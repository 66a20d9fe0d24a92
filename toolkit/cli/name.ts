import { decodeAddress } from "../decode_address.ts";
import { wordName } from "../word_name.ts";
import { address as readAddress, wholeNumber } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay name`. */
export const name = defineVerb({
  name: "name",
  summary: "print the word name that a key derives",
  args: "KEY",
  hint: "pass an address",
  about: `
KEY is an address (base58 of the public key).

A name is easy to remember and no proof of identity: a key for a chosen name of three words can be
ground out in hours, and which key holds a name only the relay knows.`,
  options: {
    adjectives: option(
      "N",
      "a name with N adjectives, 1 to 1000; 1 if not given. A relay adds adjectives at the end " +
        "when another key has registered the shorter name first",
      wholeNumber(1, 1000),
    ),
    json: flag('print {"address": ..., "word_name": ...}'),
  },
  exit: "0, or 2 for what is no address, and for wrong usage",
  async run({ values, args: [key], print }) {
    const address = readAddress(key, "KEY");
    const word_name = wordName(decodeAddress(address), values.adjectives ?? 1);
    await print({ address, word_name }, `${word_name}\n`);
  },
});
