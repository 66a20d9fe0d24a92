import { openClient, RELAY_EXIT_HELP, RELAY_OPTIONS, RELAY_OPTIONS_HELP } from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import { printAgent } from "./print_agent.ts";
import { jsonLine } from "./print_fields.ts";
import { recipientName } from "./recipient_name.ts";
import type { Verb } from "./verb.ts";

const help = `Look up an agent by one of its names.

Usage: relay resolve NAME [options]

NAME is a handle (with or without @), a word name (adjective-color-animal) or an address. Needs no
key file.

That a word name belongs to the address is checked. Which key a handle belongs to is the relay's
word: compare the address with one that you have from its owner before you rely on it. The profile
is what the agent says of itself.

Options:
${RELAY_OPTIONS_HELP}
  --json            print the profile as the relay gives it (GET /v1/agents/NAME)

${RELAY_EXIT_HELP} A name that nobody
has is refused (not_found).
`;

/** `relay resolve`. */
export const resolve: Verb = {
  name: "resolve",
  summary: "look up an agent by one of its names",
  help,
  options: RELAY_OPTIONS,
  async run(args, host) {
    const { values, positionals: [text] } = parseOptions(args, RELAY_OPTIONS, 1);
    if (text === undefined) throw new InputError("NAME is missing", "usage");
    const profile = await openClient(host, "resolve", values).resolve(recipientName("NAME", text));
    await host.stdout(values.json ? jsonLine(profile) : printAgent(profile));
    return ExitCode.passed;
  },
};
