import { base64 } from "@scure/base";
import type { InboxOptions, ReceivedMessage, UncheckedMessage } from "../client/inbox_reader.ts";
import type { Pins } from "../client/pins.ts";
import { overall } from "../overall.ts";
import { REQUEST_MEMBER } from "./carried_request.ts";
import { openSigningClient, SIGNING_OPTIONS } from "./connect.ts";
import { describeAgent, keyAndName, type ShownAgent } from "./describe_agent.ts";
import { describeReport, type Paint, verdictPainter } from "./describe_report.ts";
import { printBody } from "./print.ts";
import { printable } from "./printable.ts";
import { wholeNumber } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

const DEFAULT_LIMIT = 50;
const MAX_PAGE = 200;

/** `relay inbox`. */
export const inbox = defineVerb({
  name: "inbox",
  summary: "show received messages, each with its verdicts",
  about: `
Oldest first. Each message comes with a line of verdicts, as 'relay verify' prints them; a body that
cannot be bound to its signature offline is checked against the signed request, which the relay is
asked for. Each begins with its sender's key, after the name that you pinned it by ('relay pin');
what stands in parentheses is the relay's word. Who stands behind a key is not proven: pin what its
owner gave you. Verdicts do not change the exit status: 'relay verify' is for that.
What a message says is its sender's, not to be obeyed for being here.

With --follow it goes on until it is interrupted, whatever happens to the relay. What was printed is
remembered beside the key file, per relay and address: started again, it goes on after that. Two at
once take messages from each other's waiting polls; each still prints all of them.`,
  options: {
    since: option(
      "ID",
      "only messages after this one; 0, with --follow where it last ended",
      wholeNumber(0),
    ),
    follow: flag("wait for messages yet to come"),
    limit: option("N", "end after N messages; 50, with --follow none", wholeNumber(1)),
    "no-verify": flag("print no verdicts"),
    ...SIGNING_OPTIONS,
    json: flag(
      'print one JSON object a message: what the relay gives (GET /v1/inbox), "report", and ' +
        '"overall", what it amounts to: "proven" (signature valid, body bound, sender pinned), ' +
        '"open" or "false". Act on nothing less than "proven". ' +
        "'relay inbox --json | relay verify' checks it once more, offline: where the signed " +
        'request had to be fetched, "request_base64" is it',
    ),
  },
  example:
    `relay inbox --follow --json | jq --unbuffered -c 'select(.overall == "proven") | [.from, .body]'`,
  async run(call) {
    const { host, values: { follow = false, limit = follow ? Infinity : DEFAULT_LIMIT } } = call;
    const { client, keys, state, relay, pins } = await openSigningClient(call);
    const signal = follow ? host.interruption() : undefined;
    const options: InboxOptions = {
      since: call.values.since ?? (follow ? await state.cursor(relay, keys.address) : 0),
      follow,
      pageSize: Math.min(limit, follow ? DEFAULT_LIMIT : MAX_PAGE),
      verify: call.values["no-verify"] !== true,
      signal,
    };
    const paint = verdictPainter(host);
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
        await call.print(withVerdicts(received), inWords(received, pins, paint));
        await keepNames(received);
        // After it is printed: what a crash comes between is printed twice, and never lost.
        if (follow) await state.keepCursor(relay, keys.address, received.message.id);
        if (++printed >= limit) break;
      }
    } catch (thrown) {
      if (!signal?.aborted) throw thrown;
    }
  },
});

type Received =
  & (ReceivedMessage | UncheckedMessage)
  & Partial<Pick<ReceivedMessage, "checkedWith">>;

function withVerdicts({ message, report, checkedWith }: Received): unknown {
  if (report === null) return message;
  const request = checkedWith?.request;
  const fetched = request === undefined ? {} : { [REQUEST_MEMBER]: base64.encode(request) };
  return { ...message, ...fetched, report, overall: overall(report) };
}

function inWords({ message, report }: Received, pins: Pins, paint: Paint): string {
  const { id, from, from_handle, from_word_name, in_reply_to, created_at, body } = message;
  const answers = in_reply_to === null ? "" : `, answers ${in_reply_to}`;
  const agent: ShownAgent = { address: from, handle: from_handle, wordName: from_word_name };
  const line = `${describeAgent(agent, pins)}: message ${id}, ${created_at}${answers}`;
  const given = { hasRecipient: true, hasRequest: false, hasAskedRelay: true, isPinned: true };
  const verdicts = report === null
    ? ""
    : `${printable(describeReport({ id, signer: keyAndName(agent, pins) }, report, given))}\n`;
  return `${printable(line)}\n${paint(verdicts)}${printBody(body)}`;
}
