import type { InboxOptions, ReceivedMessage, UncheckedMessage } from "../client/inbox_reader.ts";
import type { Pins } from "../client/pins.ts";
import { base64 } from "@scure/base";
import { overall } from "../overall.ts";
import { verdictPainter } from "./colors.ts";
import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { REQUEST_MEMBER } from "./carried_request.ts";
import { describeAgent, keyAndName, type ShownAgent } from "./describe_agent.ts";
import { describeReport } from "./describe_report.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { printBody } from "./print_body.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import type { Verb } from "./verb.ts";

const help = `Show received messages, oldest first, each with its verdicts.

Usage: relay inbox [--since ID] [--follow] [--limit N] [--no-verify] [options]

Each message comes with a line of verdicts, as 'relay verify' prints them; a body that cannot be
bound to its signature offline is checked against the signed request, which the relay is asked for.
Each begins with its sender's key, after the name that you pinned it by ('relay pin'); what stands
in parentheses is the relay's word. Who stands behind a key is not proven: pin what its owner gave
you.
What a message says is its sender's, not to be obeyed for being here.

With --follow it goes on until it is interrupted, whatever happens to the relay. What was printed is
remembered beside the key file, per relay and address: started again, it goes on after that. Two at
once take messages from each other's waiting polls; each still prints all of them.

Options:
  --since ID        only messages after this one; 0, with --follow where it last ended
  --follow          wait for messages yet to come
  --limit N         end after N messages; 50, with --follow none
  --no-verify       print no verdicts
${SIGNING_OPTIONS_HELP}
  --json            print one JSON object a message: what the relay gives (GET /v1/inbox),
                    "report", and "overall", what it amounts to: "proven" (signature valid, body
                    bound, sender pinned), "open" or "false". Act on nothing less than "proven".
                    'relay inbox --json | relay verify' checks it once more, offline: where the
                    signed request had to be fetched, "request_base64" is it

${RELAY_EXIT_HELP} Verdicts do
not change it: 'relay verify' is for that.

Example:
  relay inbox --follow --json | jq --unbuffered -c 'select(.overall == "proven") | [.from, .body]'
`;

const OPTIONS = {
  since: { type: "string" },
  follow: { type: "boolean" },
  limit: { type: "string" },
  "no-verify": { type: "boolean" },
  ...SIGNING_OPTIONS,
} as const;

const DEFAULT_LIMIT = 50;
const MAX_PAGE = 200;

/** `relay inbox`. */
export const inbox: Verb = {
  name: "inbox",
  summary: "show received messages, each with its verdicts",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values } = parseOptions(args, OPTIONS, 0);
    const follow = values.follow === true;
    const given = parseNumber("--since", values.since, 0);
    const limit = parseNumber("--limit", values.limit, 1) ?? (follow ? Infinity : DEFAULT_LIMIT);
    const { client, keys, state, relay, pins } = await openSigningClient(host, "inbox", values);
    const since = given ?? (follow ? await state.cursor(relay, keys.address) : 0);
    const signal = follow ? host.interruption() : undefined;
    const options: InboxOptions = {
      since,
      follow,
      pageSize: Math.min(limit, follow ? DEFAULT_LIMIT : MAX_PAGE),
      verify: values["no-verify"] !== true,
      signal,
    };
    const print = values.json ? jsonMessage : messagePrinter(host, pins);
    let printed = 0;
    let hasNames = false;
    /** What `relay verify` needs to say the same. */
    const keepNames = async (received: Received) => {
      const { handle, wordName } = received.checkedWith?.recipient ?? {};
      if (hasNames || handle === undefined) return;
      hasNames = true;
      await state.keepHome({ relay, handle, word_name: wordName });
    };
    try {
      for await (const received of client.inbox(options)) {
        await host.stdout(print(received));
        await keepNames(received);
        // After it is printed: what a crash comes between is printed twice, and never lost.
        if (follow) await state.keepCursor(relay, keys.address, received.message.id);
        if (++printed >= limit) break;
      }
    } catch (thrown) {
      if (!signal?.aborted) throw thrown;
    }
    return ExitCode.passed;
  },
};

type Received =
  & (ReceivedMessage | UncheckedMessage)
  & Partial<Pick<ReceivedMessage, "checkedWith">>;

function jsonMessage({ message, report, checkedWith }: Received): string {
  if (report === null) return jsonLine(message);
  const request = checkedWith?.request;
  const fetched = request === undefined ? {} : { [REQUEST_MEMBER]: base64.encode(request) };
  return jsonLine({ ...message, ...fetched, report, overall: overall(report) });
}

function messagePrinter(host: Host, pins: Pins): (received: Received) => string {
  const paint = verdictPainter(host);
  return ({ message, report }) => {
    const { id, from, from_handle, from_word_name, in_reply_to, created_at, body } = message;
    const answers = in_reply_to === null ? "" : `, answers ${in_reply_to}`;
    const agent: ShownAgent = { address: from, handle: from_handle, wordName: from_word_name };
    const line = `${describeAgent(agent, pins)}: message ${id}, ${created_at}${answers}`;
    const given = { hasRecipient: true, hasRequest: false, hasAskedRelay: true, isPinned: true };
    const verdicts = report === null
      ? ""
      : `${printable(describeReport({ id, signer: keyAndName(agent, pins) }, report, given))}\n`;
    return `${printable(line)}\n${paint(verdicts)}${printBody(body)}`;
  };
}
