import { SMALL_PAGE_BYTES } from "../client/inbox_reader.ts";
import type { Pins } from "../client/pins.ts";
import type { OutboxMessage, OutboxPage } from "../client/records.ts";
import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { describeAgent } from "./describe_agent.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { printBody } from "./print_body.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import type { Verb } from "./verb.ts";

const help = `Show what you sent, oldest first, and what was fetched.

Usage: relay outbox [--since ID] [--limit N] [options]

A message stays 30 days. "delivered" is when its recipient first fetched it. Each line begins with
the recipient's key, after the name that you pinned it by ('relay pin'); what stands in parentheses
is the relay's word.

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

const DEFAULT_LIMIT = 50;

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
    const { client, pins } = await openSigningClient(host, "outbox", values);
    const print = values.json ? jsonLine : (message: OutboxMessage) => printSent(message, pins);
    let left = limit ?? DEFAULT_LIMIT;
    let from = since;
    for (;;) {
      const page = await client.outbox({ since: from, limit: left });
      await host.stdout(page.messages.map(print).join(""));
      left -= page.messages.length;
      from = page.last_id;
      if (left === 0 || isLast(page)) return ExitCode.passed;
    }
  },
};

/** Relays end a page early for its bytes, never a small one. */
function isLast({ messages }: OutboxPage): boolean {
  return messages.length === 0 || JSON.stringify(messages).length < SMALL_PAGE_BYTES;
}

function printSent(message: OutboxMessage, pins: Pins): string {
  const { id, to_handle, to_word_name, to, created_at, delivered_at, body } = message;
  const delivered = delivered_at === null ? "not fetched yet" : `delivered ${delivered_at}`;
  const shown = { address: to, handle: to_handle, wordName: to_word_name };
  const line = `${describeAgent(shown, pins)}: sent message ${id}, ${created_at}, ${delivered}`;
  return `${printable(line)}\n${printBody(body)}`;
}
