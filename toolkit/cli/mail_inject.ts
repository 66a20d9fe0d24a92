import { AnswerError } from "../client/answer_error.ts";
import type { Failure } from "../client/connection.ts";
import { decodeInboundSecret, MIN_INBOUND_SECRET_BYTES } from "../client/inbound_secret.ts";
import { type InjectedMail, injectMail } from "../client/inject_mail.ts";
import { RefusalError } from "../client/refusal_error.ts";
import { isPassing } from "../client/retry_rules.ts";
import { RELAY_OPTIONS, RELAY_OPTIONS_HELP, relayOptions } from "./connect.ts";
import { Sysexit } from "./exit_code.ts";
import { isFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import { readInput, readWhole } from "./read_input.ts";
import { MessageTooLarge, readMessage } from "./read_message.ts";
import type { Verb } from "./verb.ts";

const help = `Hand a received e-mail to the relay.

Usage: relay mail inject --from=ADDRESS [options] [--] RECIPIENT... < message

For the operator's mail server, which pipes the message as received; docs/mail.md has the lines for
exim4 and postfix. It is signed with the secret that the relay knows as RELAY_MAIL_INBOUND_SECRET,
which this command takes from the same variable, or from a file. The same message twice is stored
once. A line "From ..." of mailbox files before the message is left out.

Options:
  --from=ADDRESS    the envelope sender; empty for a bounce
  --to=ADDRESS      an envelope recipient, as RECIPIENT; one a call, so that each has an exit
                    status of its own; up to 100 in all
  --client-ip=IP    who delivered it to the mail server; SPF is checked against it. Empty or
                    "unknown": nobody knows
  --helo=NAME       what that client called itself
  --secret-file F   a file that holds the secret
  --message F       the message, in place of standard input
  --defer           75 in place of 77 and 78: mail waits until they are set right
${RELAY_OPTIONS_HELP}
  --json            print {"accepted": [...], "rejected": [{"address", "code"}]}

Exit status: 0 when every recipient has it; else as mail servers know it (sysexits.h), with one line
that says why. Several that fare differently are tried singly, and named in the line: 75 when one of
them is to be tried again, else 67.
  64  wrong usage
  65  the message is malformed, or has over 25 MiB
  67  a recipient has no inbox here that takes it
  75  try again: no answer, 408, 429 or 5xx
  77  the relay does not take the signature: another secret, or a wrong clock
  78  no secret, no relay, or a relay that takes no mail in

Example:
  relay mail inject --from="$SENDER" --client-ip="$CLIENT" -- "$RECIPIENT" < message.eml
`;

const OPTIONS = {
  from: { type: "string" },
  to: { type: "string", multiple: true },
  "client-ip": { type: "string" },
  helo: { type: "string" },
  "secret-file": { type: "string" },
  message: { type: "string" },
  defer: { type: "boolean" },
  ...RELAY_OPTIONS,
} as const;

const MAX_RECIPIENTS = 100;
/** What SMTP allows of a name; longer ones are a stranger's play, and no reason to refuse the mail. */
const MAX_HELO_CHARACTERS = 255;

/** `relay mail inject`. */
export const mailInject: Verb = {
  name: "mail inject",
  summary: "hand a received e-mail to the relay",
  help,
  options: OPTIONS,
  async run(args, host) {
    let isDeferring = args.includes("--defer");
    try {
      const { values, positionals } = parseOptions(args, OPTIONS, MAX_RECIPIENTS);
      isDeferring = values.defer === true;
      const { result, code } = await inject(values, positionals, host);
      if (values.json) await host.stdout(jsonLine(result));
      else if (code === Sysexit.ok) await host.stdout(`${summaryOf(result)}\n`);
      if (code !== Sysexit.ok) {
        await host.stderr(`relay mail inject: ${summaryOf(result)}\n`);
      }
      return code;
    } catch (thrown) {
      const { code, words } = judge(thrown);
      await host.stderr(`relay mail inject: ${printable(words)}\n`);
      const isOperators = code === Sysexit.noPermission || code === Sysexit.config;
      return isDeferring && isOperators ? Sysexit.tempFail : code;
    }
  },
};

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>["values"];

/** What became of the recipients, and what one number can say of all of them. */
interface Injected {
  result: InjectedMail;
  code: Sysexit;
}

async function inject(
  values: Values,
  positionals: readonly string[],
  host: Host,
): Promise<Injected> {
  const { from } = values;
  const to = [...values.to ?? [], ...positionals];
  if (from === undefined || to.length === 0) {
    throw new InputError("--from=ADDRESS and a RECIPIENT say whom it is from and for", "usage");
  }
  if (to.length > MAX_RECIPIENTS) throw new InputError("at most 100 recipients", "usage");
  const { options, secret } = await settings(values, host);
  const message = await readMessage(readInput(host, values.message));
  const sender = {
    from,
    client_ip: addressOf(values["client-ip"]),
    client_helo: values.helo?.slice(0, MAX_HELO_CHARACTERS) || undefined,
  };
  try {
    const result = await injectMail({ ...options, secret }, { ...sender, to }, message);
    return { result, code: result.rejected.length === 0 ? Sysexit.ok : Sysexit.noUser };
  } catch (thrown) {
    if (to.length === 1 || !isOfSome(thrown)) throw thrown;
    return await injectSingly(to, (one) => {
      const envelope = { ...sender, to: [one] };
      return injectMail({ ...options, secret, retryForMs: 0 }, envelope, message);
    });
  }
}

/** Whether a refusal may be about some of the recipients: the others have the message then. */
function isOfSome(thrown: unknown): boolean {
  return thrown instanceof RefusalError &&
    (thrown.code === "unavailable" || thrown.code === "rate_limited");
}

/**
 * Finds out who has a message and who has not. Nobody gets it twice.
 * @throws what the first that fails otherwise than for its recipient failed with
 */
async function injectSingly(
  to: readonly string[],
  injectOne: (address: string) => Promise<InjectedMail>,
): Promise<Injected> {
  const accepted: string[] = [];
  const rejected: { address: string; code: string }[] = [];
  let isOpen = false;
  for (const address of to) {
    try {
      const one = await injectOne(address);
      accepted.push(...one.accepted);
      rejected.push(...one.rejected);
    } catch (thrown) {
      if (!(thrown instanceof RefusalError)) throw thrown;
      const isNobody = failureCode(thrown) === Sysexit.noUser;
      if (!isNobody && !isOfSome(thrown)) throw thrown;
      isOpen ||= !isNobody;
      rejected.push({ address, code: thrown.code });
    }
  }
  const refusedCode = rejected.length === 0 ? Sysexit.ok : Sysexit.noUser;
  return { result: { accepted, rejected }, code: isOpen ? Sysexit.tempFail : refusedCode };
}

/** What the operator sets; what is wrong with it is the operator's to set right. */
async function settings(values: Values, host: Host) {
  try {
    const { onRetry: _, ...options } = relayOptions(host, "mail inject", values);
    return { options, secret: await readSecret(host, values["secret-file"]) };
  } catch (thrown) {
    throw thrown instanceof InputError ? new SettingsError(thrown.message) : thrown;
  }
}

class SettingsError extends Error {}

async function readSecret(host: Host, file: string | undefined): Promise<string> {
  const text = file === undefined
    ? host.env("RELAY_MAIL_INBOUND_SECRET") ?? ""
    : new TextDecoder().decode(await readWhole(host, file));
  const secret = text.trim();
  if (secret === "") {
    throw new InputError(
      "there is no secret: set RELAY_MAIL_INBOUND_SECRET, or pass --secret-file F",
    );
  }
  if (decodeInboundSecret(secret) !== null) return secret;
  throw new InputError(
    `the secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with or without whsec_ ` +
      "before it",
  );
}

/** Mail servers write other words where there was no client. */
function addressOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f.]*[:.][0-9a-f.:]+$/i.test(text) ? text : undefined;
}

/** What a failure means to a mail server, and why. */
function judge(thrown: unknown): { code: Sysexit; words: string } {
  if (isFailure(thrown)) return { code: failureCode(thrown), words: wordsOf(thrown) };
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof MessageTooLarge) return { code: Sysexit.dataError, words };
  if (thrown instanceof SettingsError) return { code: Sysexit.config, words };
  if (thrown instanceof InputError && thrown.isUsage) return { code: Sysexit.usage, words };
  return { code: Sysexit.tempFail, words };
}

/** How a relay begins to say that no recipient takes a message. */
const NOBODY = "no recipient of this message";

function failureCode(failure: Failure): Sysexit {
  if (failure instanceof RefusalError && failure.status >= 500) return Sysexit.tempFail;
  if (isPassing(failure)) return Sysexit.tempFail;
  if (!(failure instanceof RefusalError)) {
    // A success that cannot be read: the message may be there, and is stored once.
    return failure instanceof AnswerError && failure.status === 200
      ? Sysexit.tempFail
      : Sysexit.config;
  }
  switch (failure.status) {
    case 400:
    case 413:
      return Sysexit.dataError;
    case 401:
      return Sysexit.noPermission;
    case 404:
      // A route that is not there, or has no secret, must not make mail bounce.
      return failure.message.startsWith(NOBODY) ? Sysexit.noUser : Sysexit.config;
    default:
      return Sysexit.config;
  }
}

function wordsOf(failure: Failure): string {
  if (!(failure instanceof RefusalError)) return failure.message;
  return `refused (${failure.code}): ${failure.message}`.replaceAll("\n", " ");
}

function summaryOf({ accepted, rejected }: InjectedMail): string {
  const refused = rejected.map(({ address, code }) => `${address} (${code})`);
  const parts = [
    ...(accepted.length === 0 ? [] : [`accepted ${accepted.join(", ")}`]),
    ...(refused.length === 0 ? [] : [`rejected ${refused.join(", ")}`]),
  ];
  return printable(parts.join("; "));
}
