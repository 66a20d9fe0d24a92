import { contentHash } from "../content_hash.ts";
import { JsonError } from "../json_error.ts";
import { parseStrict } from "../parse_strict.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import { readWhole } from "./read_input.ts";
import type { Verb } from "./verb.ts";

const help = `Print the content hash of a message body.

Usage: relay hash [FILE|-] [--json]

FILE (or standard input) holds the body as JSON; a text is written in quotes, as JSON writes it.
The hash is the SHA-256 of the body's canonical JSON (RFC 8785), in hex: the content_hash that the
relay shows. Of a message with content type json it is the hash of the parsed document.

Options:
  --json    print {"content_hash": ...}

Exit status: 0, or 2 for JSON that languages would read differently, and for wrong usage.

Example:
  echo '{"text": "hello"}' | relay hash
`;

const OPTIONS = { json: { type: "boolean" } } as const;

/** `relay hash`. */
export const hash: Verb = {
  name: "hash",
  summary: "print the content hash of a message body",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals } = parseOptions(args, OPTIONS, 1);
    const digest = hashOf(await readWhole(host, positionals[0]));
    await host.stdout(
      values.json ? `${JSON.stringify({ content_hash: digest })}\n` : `${digest}\n`,
    );
    return ExitCode.passed;
  },
};

function hashOf(text: Uint8Array): string {
  try {
    return contentHash(parseStrict(text));
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw new InputError(`malformed: the body is not strict JSON: ${thrown.message}`);
  }
}
