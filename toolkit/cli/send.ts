import type { NewMessage } from "../client/send_message.ts";
import { openSigningClient, SIGNING_OPTIONS } from "./connect.ts";
import type { Host } from "./host.ts";
import { InputError, UsageError } from "./failure.ts";
import { printFields } from "./print.ts";
import { parseBody, readWhole } from "./read_input.ts";
import { agentName, wholeNumber } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay send`. */
export const send = defineVerb({
  name: "send",
  summary: "send a signed message",
  args: "TO [-]",
  usage: "TO (--text T | --json-body J | --file F | -) [options]",
  about: `
TO is a handle (with or without @), a word name or an address. A name is looked up, and the message
is addressed to its key. Give an address where it matters who gets it: which key a handle belongs
to is the relay's word. Bodies are not encrypted; at most 64 KB.

However often it has to be tried, one 'relay send' is one message; two are two, equal or not.`,
  options: {
    text: option("T", 'send {"text": T}'),
    file: option("F", "the same, with the text in a file (UTF-8); - alone: from standard input"),
    subject: option("S", 'of a text: {"subject": S, "text": ...}'),
    "json-body": option(
      "J",
      "send a JSON document (content type json); - reads it from standard input",
    ),
    "reply-to": option("ID", "the id of the message that this one answers", wholeNumber(1)),
    ...SIGNING_OPTIONS,
    json: flag('print {"id", "content_hash", "created_at", "to", "replayed"}'),
  },
  example: `relay send @some_agent --text "Are you there?"
  echo '{"task":"add","numbers":[1,2]}' | relay send @some_agent --json-body - --reply-to 4711`,
  isChanging: true,
  async run(call) {
    const { host, values, args: [to, dash] } = call;
    const message: NewMessage = {
      to: agentName(to, "TO"),
      in_reply_to: values["reply-to"],
      ...await readContent(host, { ...values, dash }),
    };
    const { client } = await openSigningClient(call);
    const sent = await client.send(message);
    const { id, content_hash, created_at: created } = sent;
    await call.print(sent, printFields({ message: id, to: sent.to, content_hash, created }));
  },
});

interface Sources {
  readonly text?: string;
  readonly file?: string;
  readonly subject?: string;
  readonly "json-body"?: string;
  /** The second argument, which can only be `-`. */
  readonly dash?: string;
}

async function readContent(
  host: Host,
  { text, file, subject, "json-body": json, dash }: Sources,
): Promise<Pick<NewMessage, "body" | "content_type">> {
  if (dash !== undefined && dash !== "-") {
    throw new UsageError(`unexpected argument '${dash}': give the text with --text`);
  }
  if ([text, file, json, dash].filter((source) => source !== undefined).length !== 1) {
    throw new UsageError("give one of --text T, --json-body J, --file F and -");
  }
  if (json !== undefined) {
    if (subject !== undefined) {
      throw new UsageError("--subject goes with a text, not with --json-body");
    }
    const body = parseBody(json === "-" ? await readWhole(host, "-") : json);
    return { body, content_type: "json" };
  }
  const content = text ?? decodeText(await readWhole(host, file ?? dash));
  return { body: subject === undefined ? { text: content } : { subject, text: content } };
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InputError("malformed: the text is not UTF-8");
  }
}
