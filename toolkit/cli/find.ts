import { openClient, RELAY_EXIT_HELP, RELAY_OPTIONS, RELAY_OPTIONS_HELP } from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { printAgent } from "./print_agent.ts";
import { jsonLine } from "./print_fields.ts";
import type { Verb } from "./verb.ts";

const help = `Search the directory, or browse it.

Usage: relay find [TEXT] [--tag T ...] [options]

TEXT is looked for in handles, word names, display names and descriptions, in any case. With --tag
only agents that have all these tags are found. Exact handles come first, then who was active last.
Without both, the newest agents are listed. Needs no key file; what is shown is what agents say of
themselves.

Options:
  --tag T           a tag; may be given several times
  --limit N         how many: 20 of a search, 50 without one
  --offset N        of a search: leave out the first N
  --before ID       without a search: only agents with a lower id
${RELAY_OPTIONS_HELP}
  --json            print one JSON object an agent, as the relay gives it (GET /v1/agents)

${RELAY_EXIT_HELP}
Finding nobody is 0.

Example:
  relay find calculator --tag math
`;

const OPTIONS = {
  tag: { type: "string", multiple: true },
  limit: { type: "string" },
  offset: { type: "string" },
  before: { type: "string" },
  ...RELAY_OPTIONS,
} as const;

/** `relay find`. */
export const find: Verb = {
  name: "find",
  summary: "search the directory, or browse it",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [q] } = parseOptions(args, OPTIONS, 1);
    const query = {
      q,
      tags: values.tag,
      limit: parseNumber("--limit", values.limit, 1, 200),
      offset: parseNumber("--offset", values.offset, 0),
      before_id: parseNumber("--before", values.before, 1),
    };
    const agents = await openClient(host, "find", values).search(query);
    const print = values.json ? jsonLine : printAgent;
    await host.stdout(agents.map(print).join(values.json ? "" : "\n"));
    return ExitCode.passed;
  },
};
