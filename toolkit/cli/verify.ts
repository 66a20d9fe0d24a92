import { decodeAddress } from "../decode_address.ts";
import type { Pins } from "../client/pins.ts";
import type { InboxMessage } from "../inbox_message.ts";
import { MessageError } from "../message_error.ts";
import { verifyMessage, type VerifyMessageOptions } from "../verify_message.ts";
import type { MessageReport } from "../message_report.ts";
import type { Recipient } from "../recipient.ts";
import { verdictPainter } from "./colors.ts";
import { carriedRequest } from "./carried_request.ts";
import { keyAndName } from "./describe_agent.ts";
import { describeReport, type GivenEvidence, reportExitCode } from "./describe_report.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { stateFile } from "../node/state_file.ts";
import { findKeyFile } from "./key_location.ts";
import { type InputEntry, readMessages } from "./message_input.ts";
import { parseOptions } from "./parse_options.ts";
import { readPins } from "./pins_file.ts";
import { printable } from "./printable.ts";
import { readInput, readWhole } from "./read_input.ts";
import { readLines } from "./read_lines.ts";
import type { Verb } from "./verb.ts";

const help = `Verify received messages offline.

Usage: relay verify [FILE|-] [options]

FILE (or standard input) holds one message as GET /v1/inbox gives it, an array of them, the
inbox's whole answer {"messages":[...]}, or one message a line (NDJSON).

Options:
  --from ADDRESS    the sender's address as you know it, whatever is pinned ('relay pin'); where
                    neither is, the line says "signer not pinned": anybody may have signed
  --to KEY          the recipient's address; by default that of your key file, and the names that
                    its relay gave it
  --to-handle H     the recipient's handle
  --to-name W       the recipient's word name, when it has more than three words
  --request FILE    the raw signed request (GET /v1/messages/ID/signed-request); it binds a
                    body whose request cannot be rebuilt. 'relay inbox --json' gives it where one
                    is needed, as "request_base64" of the message
  --max-skew S      refuse when the signed time and created_at are more than S seconds apart
  --key FILE        the key file whose address is the recipient
  --json            one JSON object a message: {index, report} or {index, error}

Each message gets one line that names the signer, with the verdicts, each by itself. They do not
prove who stands behind a key, that a handle belongs to it, whom a message was for (unless bound and
addressed by key), when it was sent (the signed time is what the sender's clock said), that it is
the first delivery or that none is missing (drop repeats by sender and signature), or anything about
a body that is not bound.

Exit status: 0 every requested check passed; 1 something is false; 2 malformed input or usage;
3 nothing is false, but a body is not bound to its signature. Of a batch the worst counts, in the
order 1, 2, 3, 0.

Example:
  relay verify message.json --from ${"FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z"}
`;

const OPTIONS = {
  from: { type: "string" },
  to: { type: "string" },
  "to-handle": { type: "string" },
  "to-name": { type: "string" },
  request: { type: "string" },
  "max-skew": { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
} as const;

/** `relay verify`. */
export const verify: Verb = {
  name: "verify",
  summary: "verify received messages offline",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals } = parseOptions(args, OPTIONS, 1);
    const options: VerifyMessageOptions = {
      from: address("--from", values.from),
      recipient: await recipientOf(values, host),
      request: values.request === undefined ? undefined : await readWhole(host, values.request),
      maxSkewSeconds: seconds("--max-skew", values["max-skew"]),
    };
    const { pins } = await readPins(host);
    const { isBatch, entries } = await readMessages(readLines(readInput(host, positionals[0])));
    const print = values.json ? jsonLine : wordLine;
    const paint = values.json ? (line: string) => line : verdictPainter(host);
    let index = 0;
    let worst: ExitCode = ExitCode.passed;
    for await (const entry of entries) {
      const verdict = await verdictOn(entry, options, pins);
      if ("error" in verdict && !isBatch) {
        throw new InputError(`malformed: ${verdict.error.message}`);
      }
      await host.stdout(paint(print(index++, verdict)));
      worst = worse(
        worst,
        "error" in verdict ? ExitCode.malformed : reportExitCode(verdict.report),
      );
    }
    return worst;
  },
};

type Verdict =
  | {
    readonly message: InboxMessage;
    /** Its key, after the name that it is pinned by. */
    readonly signer: string;
    readonly report: MessageReport;
    readonly given: GivenEvidence;
  }
  | { readonly error: { readonly code: string; readonly message: string } };

async function verdictOn(
  entry: InputEntry,
  options: VerifyMessageOptions,
  pins: Pins,
): Promise<Verdict> {
  if ("error" in entry) return { error: entry.error };
  try {
    // Whether it is a message, the verifier says.
    const message = entry.value as unknown as InboxMessage;
    const carried = options.request === undefined ? carriedRequest(entry.value) : undefined;
    const from = options.from ?? expectedSender(message, pins);
    const request = options.request ?? carried;
    const report = await verifyMessage(message, { ...options, from, request });
    const { from: address, from_handle: handle, from_word_name: wordName } = message;
    const given = {
      hasRecipient: options.recipient !== undefined,
      hasRequest: request !== undefined,
      isRequestCarried: carried !== undefined,
      isPinned: options.from === undefined,
    };
    return { message, signer: keyAndName({ address, handle, wordName }, pins), report, given };
  } catch (thrown) {
    if (!(thrown instanceof MessageError)) throw thrown;
    if (thrown.code === "invalid_option") throw new InputError(inOptions(thrown), "usage");
    return { error: thrown };
  }
}

function expectedSender(message: Partial<InboxMessage> | null, pins: Pins): string | undefined {
  const { from, from_handle, from_word_name } = message ?? {};
  const areTexts = [from, from_handle, from_word_name].every((text) => typeof text === "string");
  return areTexts ? pins.expectedSender(message as InboxMessage) : undefined;
}

/** The same in the words of the command line, which has checked all other options before. */
function inOptions({ field, message }: MessageError): string {
  const option = field === "recipient.handle" ? "--to-handle" : "--to-name";
  return `${option}${message.slice(field.length)}`;
}

function jsonLine(index: number, verdict: Verdict): string {
  const line = "error" in verdict
    ? { index, error: { code: verdict.error.code, message: verdict.error.message } }
    : { index, report: verdict.report };
  return `${JSON.stringify(line)}\n`;
}

function wordLine(_index: number, verdict: Verdict): string {
  if ("error" in verdict) return `malformed: ${printable(verdict.error.message)}\n`;
  const { message: { id }, signer, report, given } = verdict;
  return `${printable(describeReport({ id, signer }, report, given))}\n`;
}

/** From worst to best; what is false outweighs what could not be read. */
const ORDER: readonly ExitCode[] = [
  ExitCode.false,
  ExitCode.malformed,
  ExitCode.unbound,
  ExitCode.passed,
];

function worse(a: ExitCode, b: ExitCode): ExitCode {
  return ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b;
}

async function recipientOf(
  values: { to?: string; "to-handle"?: string; "to-name"?: string; key?: string },
  host: Host,
): Promise<Recipient | undefined> {
  const { "to-handle": handle, "to-name": wordName } = values;
  const to = address("--to", values.to);
  if (to !== undefined) return { address: to, handle, wordName };
  const own = await ownNames(host, values.key);
  if (own !== undefined) {
    return { ...own, handle: handle ?? own.handle, wordName: wordName ?? own.wordName };
  }
  if (handle === undefined && wordName === undefined) return undefined;
  throw new InputError(
    "--to-handle and --to-name need --to KEY beside them, or a key file",
    "usage",
  );
}

/** The agent whose key file the caller chose, with the names that its relay was heard to give it. */
async function ownNames(host: Host, key: string | undefined): Promise<Recipient | undefined> {
  const file = await findKeyFile(host, key);
  const home = file && await stateFile(host, file.path).home();
  return file && { address: file.address, handle: home?.handle, wordName: home?.word_name };
}

function address(option: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    decodeAddress(value);
    return value;
  } catch (thrown) {
    throw new InputError(
      `${option}: ${thrown instanceof Error ? thrown.message : "no address"}`,
      "usage",
    );
  }
}

function seconds(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(value)) return Number(value);
  throw new InputError(`${option} takes a number of seconds from 0, not '${value}'`, "usage");
}
