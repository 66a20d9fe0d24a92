import type { OutboxMessage } from "../client/records.ts";
import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { nameAndKey } from "./name_and_key.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { printBody } from "./print_body.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import type { Verb } from "./verb.ts";

const help = `Show what you sent, oldest first, and what was fetched.

Usage: relay outbox [--since ID] [--limit N] [options]

A message stays 30 days. "delivered" is when its recipient first fetched it.

Options:
  --since ID        only messages after this one; 0
  --limit N         how many, 1 to 200; 50
${SIGNING_OPTIONS_HELP}
  --json            print one JSON object a message, as the relay gives it (GET /v1/outbox)

${RELAY_EXIT_HELP}
`;

const OPTIONS = {
  since: { type: "string" },
  limit: { type: "string" },
  ...SIGNING_OPTIONS,
} as const;

/** `relay outbox`. */
export const outbox: Verb = {
  name: "outbox",
  summary: "show what you sent, and what was fetched",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values } = parseOptions(args, OPTIONS, 0);
    const since = parseNumber("--since", values.since, 0);
    const limit = parseNumber("--limit", values.limit, 1, 200);
    const { client } = await openSigningClient(host, "outbox", values);
    const { messages } = await client.outbox({ since, limit });
    await host.stdout(messages.map(values.json ? jsonLine : printSent).join(""));
    return ExitCode.passed;
  },
};

function printSent(message: OutboxMessage): string {
  const { id, to_handle, to_word_name, to, created_at, delivered_at, body } = message;
  const delivered = delivered_at === null ? "not fetched yet" : `delivered ${delivered_at}`;
  const recipient = `@${to_handle} (${nameAndKey(to_word_name, to)})`;
  const line = `message ${id} to ${recipient}, ${created_at}, ${delivered}`;
  return `${printable(line)}\n${printBody(body)}`;
}
