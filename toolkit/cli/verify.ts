import type { Pins } from "../client/pins.ts";
import type { InboxMessage } from "../inbox_message.ts";
import type { JsonError } from "../json_error.ts";
import { MessageError } from "../message_error.ts";
import { stateFile } from "../node/state_file.ts";
import type { Recipient } from "../recipient.ts";
import { verifyMessage, type VerifyMessageOptions } from "../verify_message.ts";
import { carriedRequest } from "./carried_request.ts";
import { keyAndName } from "./describe_agent.ts";
import { describeReport, reportExitCode, verdictPainter } from "./describe_report.ts";
import { ExitCode, InputError, UsageError } from "./failure.ts";
import type { Host } from "./host.ts";
import { type InputEntry, readMessages } from "./message_input.ts";
import { findKeyFile } from "./own_keys.ts";
import { readPins } from "./pins_file.ts";
import { printable } from "./printable.ts";
import { readInput, readWhole } from "./read_input.ts";
import { address } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay verify`. */
export const verify = defineVerb({
  name: "verify",
  summary: "verify received messages offline",
  args: "[FILE|-]",
  about: `
FILE (or standard input) holds one message as GET /v1/inbox gives it, an array of them, the
inbox's whole answer {"messages":[...]}, or one message a line (NDJSON).

Each message gets one line that names the signer, with the verdicts, each by itself. They do not
prove who stands behind a key, that a handle belongs to it, whom a message was for (unless bound and
addressed by key), when it was sent (the signed time is what the sender's clock said), that it is
the first delivery or that none is missing (drop repeats by sender and signature), or anything about
a body that is not bound.`,
  options: {
    from: option(
      "ADDRESS",
      "the sender's address as you know it, whatever is pinned ('relay pin'); where neither is, " +
        'the line says "signer not pinned": anybody may have signed',
      address,
    ),
    to: option(
      "KEY",
      "the recipient's address; by default that of your key file, and the names that its relay " +
        "gave it",
      address,
    ),
    "to-handle": option("H", "the recipient's handle"),
    "to-name": option("W", "the recipient's word name, when it has more than three words"),
    request: option(
      "FILE",
      "the raw signed request (GET /v1/messages/ID/signed-request); it binds a body whose request " +
        "cannot be rebuilt. 'relay inbox --json' gives it where one is needed, as " +
        '"request_base64" of the message',
    ),
    "max-skew": option(
      "S",
      "refuse when the signed time and created_at are more than S seconds apart",
      seconds,
    ),
    key: option("FILE", "the key file whose address is the recipient"),
    json: flag("one JSON object a message: {index, report} or {index, error}"),
  },
  exit: `0 every requested check passed; 1 something is false; 2 malformed input or usage;
3 nothing is false, but a body is not bound to its signature. Of a batch the worst counts, in the
order 1, 2, 3, 0`,
  example: "relay verify message.json --from FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
  async run({ host, values, args: [file], print }) {
    const options: VerifyMessageOptions = {
      from: values.from,
      recipient: await recipientOf(values, host),
      request: values.request === undefined ? undefined : await readWhole(host, values.request),
      maxSkewSeconds: values["max-skew"],
    };
    const { pins } = await readPins(host);
    const { isBatch, entries } = await readMessages(readInput(host, file));
    const paint = verdictPainter(host);
    const found = new Set<ExitCode>();
    let index = 0;
    for await (const entry of entries) {
      const { code, value, words } = await verdictOn(entry, options, pins);
      if (code === ExitCode.malformed && !isBatch) throw new InputError(words);
      await print({ index: index++, ...value }, paint(`${printable(words)}\n`));
      found.add(code);
    }
    return WORST_FIRST.find((code) => found.has(code)) ?? ExitCode.passed;
  },
});

/** What is false outweighs what could not be read. */
const WORST_FIRST = [ExitCode.false, ExitCode.malformed, ExitCode.unbound];

/** What becomes of one entry. */
interface Verdict {
  readonly code: ExitCode;
  readonly value: object;
  readonly words: string;
}

async function verdictOn(
  entry: InputEntry,
  options: VerifyMessageOptions,
  pins: Pins,
): Promise<Verdict> {
  if ("error" in entry) return malformed(entry.error);
  try {
    // Whether it is a message, the verifier says.
    const message = entry.value as unknown as InboxMessage;
    const carried = options.request === undefined ? carriedRequest(entry.value) : undefined;
    const from = options.from ?? expectedSender(message, pins);
    const request = options.request ?? carried;
    const report = await verifyMessage(message, { ...options, from, request });
    const { id, from: address, from_handle: handle, from_word_name: wordName } = message;
    const signer = keyAndName({ address, handle, wordName }, pins);
    const words = describeReport({ id, signer }, report, {
      hasRecipient: options.recipient !== undefined,
      hasRequest: request !== undefined,
      isRequestCarried: carried !== undefined,
      isPinned: options.from === undefined,
    });
    return { code: reportExitCode(report), value: { report }, words };
  } catch (thrown) {
    if (!(thrown instanceof MessageError)) throw thrown;
    if (thrown.code === "invalid_option") throw new UsageError(inOptions(thrown));
    return malformed(thrown);
  }
}

function malformed({ code, message }: JsonError | MessageError): Verdict {
  const words = `malformed: ${message}`;
  return { code: ExitCode.malformed, value: { error: { code, message } }, words };
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

async function recipientOf(
  values: { to?: string; "to-handle"?: string; "to-name"?: string; key?: string },
  host: Host,
): Promise<Recipient | undefined> {
  const { to, "to-handle": handle, "to-name": wordName } = values;
  if (to !== undefined) return { address: to, handle, wordName };
  const file = await findKeyFile(host, values.key);
  if (file !== undefined) {
    // The names that its relay gave it.
    const home = await stateFile(host, file.path).home();
    return {
      address: file.address,
      handle: handle ?? home?.handle,
      wordName: wordName ?? home?.word_name,
    };
  }
  if (handle === undefined && wordName === undefined) return undefined;
  throw new UsageError(
    "--to-handle and --to-name need --to KEY beside them, or a key file",
  );
}

function seconds(text: string, label: string): number {
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw new UsageError(`${label} takes a number of seconds from 0, not '${text}'`);
}
