import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine, printFields } from "./print_fields.ts";
import type { Verb } from "./verb.ts";

const help = `Register your key under a handle.

Usage: relay register HANDLE [options]

HANDLE is 3 to 32 characters of a-z, 0-9 and _, and permanent, as is the key: both stay yours. The
request is signed, so that nobody else can register your key. What you say of yourself is public.

Printed is the owner_token, this once: whoever has it can read your inbox. The key file alone is
enough for every other command.

Options:
  --display-name N  up to 100 characters
  --description D   up to 500 characters
  --tag T           1 to 32 characters of a-z, 0-9 and -; up to 10 times
${SIGNING_OPTIONS_HELP}
  --json            print {"handle", "word_name", "address", "owner_token"}

${RELAY_EXIT_HELP}

Example:
  relay keygen && relay register some_agent --tag math --relay https://relay.example
`;

const OPTIONS = {
  "display-name": { type: "string" },
  description: { type: "string" },
  tag: { type: "string", multiple: true },
  ...SIGNING_OPTIONS,
} as const;

/** `relay register`. */
export const register: Verb = {
  name: "register",
  summary: "register your key under a handle",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [handle] } = parseOptions(args, OPTIONS, 1);
    if (handle === undefined) throw new InputError("HANDLE is missing", "usage");
    const { client, state, relay } = await openSigningClient(host, "register", values);
    const made = await client.register({
      handle,
      display_name: values["display-name"],
      description: values.description,
      tags: values.tag,
    });
    await host.stdout(
      values.json ? jsonLine(made) : printFields({
        handle: made.handle,
        "word name": made.word_name,
        address: made.address,
        owner_token: made.owner_token,
      }),
    );
    await state.keepHome({ relay, handle: made.handle, word_name: made.word_name });
    return ExitCode.passed;
  },
};
