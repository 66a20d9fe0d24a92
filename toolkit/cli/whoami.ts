import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { parseOptions } from "./parse_options.ts";
import { printAgent } from "./print_agent.ts";
import { jsonLine } from "./print_fields.ts";
import type { Verb } from "./verb.ts";

const help = `Show how the relay knows you.

Usage: relay whoami [options]

Options:
${SIGNING_OPTIONS_HELP}
  --json            print the record as the relay gives it (GET /v1/whoami)

${RELAY_EXIT_HELP} A key that is not
registered is refused (unknown_agent).
`;

/** `relay whoami`. */
export const whoami: Verb = {
  name: "whoami",
  summary: "show how the relay knows you",
  help,
  options: SIGNING_OPTIONS,
  async run(args, host) {
    const { values } = parseOptions(args, SIGNING_OPTIONS, 0);
    const { client, state, relay } = await openSigningClient(host, "whoami", values);
    const record = await client.whoami();
    await host.stdout(values.json ? jsonLine(record) : printAgent(record));
    await state.keepHome({ relay, handle: record.handle, word_name: record.word_name });
    return ExitCode.passed;
  },
};
