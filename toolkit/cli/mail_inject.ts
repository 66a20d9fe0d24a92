import { AnswerError } from "../client/answer_error.ts";
import { type Failure, isFailure } from "../client/connection.ts";
import { decodeInboundSecret, MIN_INBOUND_SECRET_BYTES } from "../client/inbound_secret.ts";
import { type InjectedMail, injectMail } from "../client/inject_mail.ts";
import { RefusalError } from "../client/refusal_error.ts";
import { isPassing } from "../client/retry_rules.ts";
import { joinBytes } from "../join_bytes.ts";
import { RELAY_OPTIONS, relayOptions } from "./connect.ts";
import type { Host } from "./host.ts";
import { InputError, UsageError } from "./failure.ts";
import { printable } from "./printable.ts";
import { readInput, readWhole } from "./read_input.ts";
import { type Call, defineVerb, flag, list, option } from "./verb.ts";

/** What mail servers know in place of the other verbs' exit codes (sysexits.h). */
const Sysexit = {
  ok: 0,
  /** Wrong usage. */
  usage: 64,
  /** The message or the envelope is too large or malformed. */
  dataError: 65,
  /** No recipient has an inbox that takes it. */
  noUser: 67,
  /** It may work later. */
  tempFail: 75,
  /** The relay does not take the signature. */
  noPermission: 77,
  /** No secret, no relay, or a relay that takes no mail in. */
  config: 78,
} as const;

type Sysexit = typeof Sysexit[keyof typeof Sysexit];

const MAX_RECIPIENTS = 100;
/** What SMTP allows of a name; longer ones are a stranger's play, and no reason to refuse the mail. */
const MAX_HELO_CHARACTERS = 255;
/** What a relay takes of one message, unless its operator says otherwise. */
const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;
const MAX_SEPARATOR_BYTES = 1024;
const LF = 10;

const OPTIONS = {
  from: option("=ADDRESS", "the envelope sender; empty for a bounce"),
  to: list(
    "=ADDRESS",
    "an envelope recipient, as RECIPIENT; one a call, so that each has an exit status of its " +
      "own; up to 100 in all",
  ),
  "client-ip": option(
    "=IP",
    "who delivered it to the mail server; SPF is checked against it. Empty or " +
      '"unknown": nobody knows',
  ),
  helo: option("=NAME", "what that client called itself"),
  "secret-file": option("F", "a file that holds the secret"),
  message: option("F", "the message, in place of standard input"),
  defer: flag("75 in place of 77 and 78: mail waits until they are set right"),
  ...RELAY_OPTIONS,
  json: flag('print {"accepted": [...], "rejected": [{"address", "code"}]}'),
};

/** `relay mail inject`. */
export const mailInject = defineVerb({
  name: "mail inject",
  summary: "hand a received e-mail to the relay",
  args: "[RECIPIENT...]",
  usage: "--from=ADDRESS [options] [--] RECIPIENT... < message",
  about: `
For the operator's mail server, which pipes the message as received; docs/mail.md has the lines for
exim4 and postfix. It is signed with the secret that the relay knows as RELAY_MAIL_INBOUND_SECRET,
which this command takes from the same variable, or from a file. The same message twice is stored
once. A line "From ..." of mailbox files before the message is left out.`,
  options: OPTIONS,
  exit: `0 when every recipient has it; else as mail servers know it (sysexits.h), with one line
that says why. Several that fare differently are tried singly, and named in the line: 75 when one of
them is to be tried again, else 67.
  64  wrong usage
  65  the message is malformed, or has over 25 MiB
  67  a recipient has no inbox here that takes it
  75  try again: no answer, 408, 429 or 5xx
  77  the relay does not take the signature: another secret, or a wrong clock
  78  no secret, no relay, or a relay that takes no mail in`,
  example: `relay mail inject --from="$SENDER" --client-ip="$CLIENT" -- "$RECIPIENT" < message.eml`,
  async run(call) {
    const { result, code } = await inject(call);
    const words = summaryOf(result);
    const isAccepted = code === Sysexit.ok;
    if (call.values.json || isAccepted) await call.print(result, `${printable(words)}\n`);
    if (!isAccepted) await call.tell(words);
    return code;
  },
  async fail(thrown, tell, { defer }) {
    const { code, words } = judge(thrown);
    await tell(words);
    const isOperators = code === Sysexit.noPermission || code === Sysexit.config;
    return defer && isOperators ? Sysexit.tempFail : code;
  },
});

type InjectCall = Call<typeof OPTIONS, "[RECIPIENT...]">;

/** The outcome for each recipient, and the one exit code for all of them. */
interface Injected {
  result: InjectedMail;
  code: Sysexit;
}

async function inject(call: InjectCall): Promise<Injected> {
  const { host, values, args } = call;
  const { from } = values;
  const to = [...values.to ?? [], ...args];
  if (from === undefined || to.length === 0) {
    throw new UsageError("--from=ADDRESS and a RECIPIENT say whom it is from and for");
  }
  if (to.length > MAX_RECIPIENTS) throw new UsageError("at most 100 recipients");
  const options = await settings(call);
  const message = await readMessage(readInput(host, values.message));
  const sender = {
    from,
    client_ip: addressOf(values["client-ip"]),
    client_helo: values.helo?.slice(0, MAX_HELO_CHARACTERS) || undefined,
  };
  try {
    const result = await injectMail(options, { ...sender, to }, message);
    return { result, code: result.rejected.length === 0 ? Sysexit.ok : Sysexit.noUser };
  } catch (thrown) {
    if (to.length === 1 || !isOfSome(thrown)) throw thrown;
    return await injectSingly(to, (one) => {
      const envelope = { ...sender, to: [one] };
      return injectMail({ ...options, retryForMs: 0 }, envelope, message);
    });
  }
}

/** Whether a refusal may be about some of the recipients: the others have the message then. */
function isOfSome(thrown: unknown): boolean {
  return thrown instanceof RefusalError &&
    (thrown.code === "unavailable" || thrown.code === "rate_limited");
}

/**
 * Finds out which recipients have a message. None gets it twice.
 * @throws the first failure that is not about its recipient
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
async function settings(call: InjectCall) {
  try {
    const { onRetry: _, ...options } = relayOptions(call);
    return { ...options, secret: await readSecret(call.host, call.values["secret-file"]) };
  } catch (thrown) {
    throw thrown instanceof InputError ? new InjectError(Sysexit.config, thrown.message) : thrown;
  }
}

/** What ends with a code of its own. */
class InjectError extends Error {
  readonly code: Sysexit;

  constructor(code: Sysexit, message: string) {
    super(message);
    this.code = code;
  }
}

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
    `the secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with or without ` +
      "whsec_ before it",
  );
}

/**
 * A message as a mail server pipes it, without the `From ` line of mailboxes that some put before it.
 *
 * @throws {InjectError} as soon as it has more bytes than a relay takes; the rest is not read
 */
async function readMessage(
  chunks: AsyncIterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> {
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_MESSAGE_BYTES + MAX_SEPARATOR_BYTES) throw tooLarge();
    read.push(chunk);
  }
  const message = withoutSeparator(joinBytes(read) as Uint8Array<ArrayBuffer>);
  if (message.length > MAX_MESSAGE_BYTES) throw tooLarge();
  return message;
}

function tooLarge(): InjectError {
  const words = `the message has over ${MAX_MESSAGE_BYTES} bytes, more than a relay takes`;
  return new InjectError(Sysexit.dataError, words);
}

/** `From sender date` is the separator of mailbox files (RFC 4155); a header has a colon behind From. */
function withoutSeparator(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const isSeparator = new TextDecoder("latin1").decode(message.subarray(0, 5)) === "From ";
  const end = isSeparator ? message.subarray(0, MAX_SEPARATOR_BYTES).indexOf(LF) : -1;
  return end < 0 ? message : message.subarray(end + 1);
}

/** Mail servers write other words where there was no client. */
function addressOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f.]*[:.][0-9a-f.:]+$/i.test(text) ? text : undefined;
}

/** What a failure means to a mail server, and why. */
function judge(thrown: unknown): { code: Sysexit; words: string } {
  if (isFailure(thrown)) return { code: failureCode(thrown), words: wordsOf(thrown) };
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof InjectError) return { code: thrown.code, words };
  if (thrown instanceof UsageError) return { code: Sysexit.usage, words };
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
  return parts.join("; ");
}
