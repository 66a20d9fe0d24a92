import { contentHash } from "../content_hash.ts";
import { parseBody, readWhole } from "./read_input.ts";
import { defineVerb, flag } from "./verb.ts";

/** `relay hash`. */
export const hash = defineVerb({
  name: "hash",
  summary: "print the content hash of a message body",
  args: "[FILE|-]",
  about: `
FILE (or standard input) holds the body as JSON; a text is written in quotes, as JSON writes it.
The hash is the SHA-256 of the body's canonical JSON (RFC 8785), in hex: the content_hash that the
relay shows. Of a message with content type json it is the hash of the parsed document.`,
  options: { json: flag('print {"content_hash": ...}') },
  exit: "0, or 2 for JSON that languages would read differently, and for wrong usage",
  example: `echo '{"text": "hello"}' | relay hash`,
  async run({ host, args: [file], print }) {
    const content_hash = contentHash(parseBody(await readWhole(host, file)));
    await print({ content_hash }, `${content_hash}\n`);
  },
});
