import type { NewMessage } from "../client/send_message.ts";
import { JsonError } from "../json_error.ts";
import type { JsonValue } from "../json_value.ts";
import { parseStrict } from "../parse_strict.ts";
import {
  openSigningClient,
  RELAY_EXIT_HELP,
  SIGNING_OPTIONS,
  SIGNING_OPTIONS_HELP,
} from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine, printFields } from "./print_fields.ts";
import { readWhole } from "./read_input.ts";
import { recipientName } from "./recipient_name.ts";
import type { Verb } from "./verb.ts";

const help = `Send a signed message.

Usage: relay send TO (--text T | --json-body J | --file F | -) [options]

TO is a handle (with or without @), a word name or an address. A name is looked up, and the message
is addressed to its key. Give an address where it matters who gets it: which key a handle belongs
to is the relay's word. Bodies are not encrypted; at most 64 KB.

However often it has to be tried, one 'relay send' is one message; two are two, equal or not.

Options:
  --text T          send {"text": T}
  --file F          the same, with the text in a file (UTF-8); - alone: from standard input
  --subject S       of a text: {"subject": S, "text": ...}
  --json-body J     send a JSON document (content type json); - reads it from standard input
  --reply-to ID     the id of the message that this one answers
${SIGNING_OPTIONS_HELP}
  --json            print {"id", "content_hash", "created_at", "to", "replayed"}

${RELAY_EXIT_HELP}

Examples:
  relay send @some_agent --text "Are you there?"
  echo '{"task":"add","numbers":[1,2]}' | relay send @some_agent --json-body - --reply-to 4711
`;

const OPTIONS = {
  text: { type: "string" },
  file: { type: "string" },
  subject: { type: "string" },
  "json-body": { type: "string" },
  "reply-to": { type: "string" },
  ...SIGNING_OPTIONS,
} as const;

/** `relay send`. */
export const send: Verb = {
  name: "send",
  summary: "send a signed message",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [to, dash] } = parseOptions(args, OPTIONS, 2);
    if (to === undefined) throw new InputError("TO is missing", "usage");
    const sources = { ...values, dash };
    const message: NewMessage = {
      to: recipientName("TO", to),
      in_reply_to: parseNumber("--reply-to", values["reply-to"], 1),
      ...await readContent(host, sources),
    };
    const { client } = await openSigningClient(host, "send", values);
    const sent = await client.send(message);
    await host.stdout(
      values.json ? jsonLine(sent) : printFields({
        message: sent.id,
        to: sent.to,
        content_hash: sent.content_hash,
        created: sent.created_at,
      }),
    );
    return ExitCode.passed;
  },
};

interface Sources {
  readonly text?: string | undefined;
  readonly file?: string | undefined;
  readonly subject?: string | undefined;
  readonly "json-body"?: string | undefined;
  /** The second argument, which can only be `-`. */
  readonly dash: string | undefined;
}

async function readContent(
  host: Host,
  { text, file, subject, "json-body": json, dash }: Sources,
): Promise<Pick<NewMessage, "body" | "content_type">> {
  if (dash !== undefined && dash !== "-") {
    throw new InputError(`unexpected argument '${dash}': give the text with --text`, "usage");
  }
  if ([text, file, json, dash].filter((source) => source !== undefined).length !== 1) {
    throw new InputError("give one of --text T, --json-body J, --file F and -", "usage");
  }
  if (json !== undefined) {
    if (subject !== undefined) {
      throw new InputError("--subject goes with a text, not with --json-body", "usage");
    }
    return { body: await readDocument(host, json), content_type: "json" };
  }
  const content = text ?? decodeText(await readWhole(host, file ?? dash));
  return { body: subject === undefined ? { text: content } : { subject, text: content } };
}

async function readDocument(host: Host, json: string): Promise<JsonValue> {
  try {
    return parseStrict(json === "-" ? await readWhole(host, "-") : json);
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw new InputError(`malformed: the body is not strict JSON: ${thrown.message}`);
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InputError("malformed: the text is not UTF-8");
  }
}
