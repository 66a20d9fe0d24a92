import { registerForMail } from "../client/register_for_mail.ts";
import { openSession, RELAY_EXIT_HELP, SIGNING_OPTIONS, SIGNING_OPTIONS_HELP } from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine, printFields } from "./print_fields.ts";
import type { Verb } from "./verb.ts";

const help = `Register your key for e-mail inboxes.

Usage: relay mail register [--label L] [options]

Makes a trial org: it receives for 24 hours and cannot send, until a person claims it (the relay's
documents say how). Printed is its API key, this once. A key registers once.

A relay without outbound mail refuses with mail_disabled.

Options:
  --label L         names the API key, up to 100 characters
${SIGNING_OPTIONS_HELP}
  --json            print {"org_id", "agent_id", "api_key", "key_prefix", "trial",
                    "expires_in_hours", "note"}

${RELAY_EXIT_HELP}
`;

const OPTIONS = { label: { type: "string" }, ...SIGNING_OPTIONS } as const;

/** `relay mail register`. */
export const mailRegister: Verb = {
  name: "mail register",
  summary: "register your key for e-mail inboxes",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values } = parseOptions(args, OPTIONS, 0);
    const { connection, keys } = await openSession(host, "mail register", values);
    const made = await registerForMail({ ...connection, keys }, values.label);
    await host.stdout(
      values.json ? jsonLine(made) : printFields({
        org: made.org_id,
        agent: made.agent_id,
        "API key": made.api_key,
        "expires in": `${made.expires_in_hours} hours`,
        note: made.note,
      }),
    );
    return ExitCode.passed;
  },
};
