import { isFailure } from "../client/connection.ts";
import { NetworkError } from "../client/network_error.ts";
import { RefusalError } from "../client/refusal_error.ts";
import { FileError } from "../node/file_error.ts";
import { VERSION } from "../version.ts";
import { completionsVerb } from "./completions.ts";
import { ExitCode } from "./exit_code.ts";
import { find } from "./find.ts";
import { hash } from "./hash.ts";
import type { Host } from "./host.ts";
import { inbox } from "./inbox.ts";
import { InputError, UsageError } from "./input_error.ts";
import { keygen } from "./keygen.ts";
import { mailDns } from "./mail_dns.ts";
import { mailInject } from "./mail_inject.ts";
import { mailRegister } from "./mail_register.ts";
import { name } from "./name.ts";
import { outbox } from "./outbox.ts";
import { pin } from "./pin.ts";
import { jsonLine } from "./print.ts";
import { printable } from "./printable.ts";
import { register } from "./register.ts";
import { resolve } from "./resolve.ts";
import { send } from "./send.ts";
import { sign } from "./sign.ts";
import { helpOf, runVerb, type Verb } from "./verb.ts";
import { verify } from "./verify.ts";
import { whoami } from "./whoami.ts";

/** All verbs, in the order in which help lists them. */
export const VERBS: readonly Verb[] = [
  keygen,
  register,
  whoami,
  send,
  inbox,
  outbox,
  resolve,
  find,
  pin,
  verify,
  hash,
  name,
  sign,
  mailRegister,
  mailInject,
  mailDns,
  completionsVerb(() => VERBS),
];

/**
 * Runs the command line.
 *
 * @returns the exit code: 0, 1 or 3 as the verb says, 2 for malformed input or usage. 4 when the
 * relay refused, 5 when none could be reached. `mail inject` ends with the codes of mail servers
 */
export async function run(host: Host): Promise<number> {
  const [first, ...rest] = host.args;
  if (first === undefined) {
    await host.stderr(overview());
    return ExitCode.malformed;
  }
  if (first === "--version") {
    await host.stdout(`relay ${VERSION}\n`);
    return ExitCode.passed;
  }
  const words = first === "help" ? rest : host.args;
  const isQuestion = first === "help" || hasFlag(words, isHelp);
  const asked = isQuestion ? words.filter((word) => !isHelp(word)) : words;
  const verb = VERBS.find(({ name }) => name.split(" ").every((word, n) => asked[n] === word));
  if (verb !== undefined && !isQuestion) {
    return await runOrTell(verb, asked.slice(verb.name.split(" ").length), host);
  }
  const [half, ...more] = asked;
  // Nothing but a question, or one about the first half of verbs: not a mistake.
  const isOfAll = half === undefined || (startsVerb(half) && more.length === 0);
  if (isQuestion && (verb !== undefined || isOfAll)) {
    await host.stdout(verb === undefined ? overview() : helpOf(verb));
    return ExitCode.passed;
  }
  const name = asked.slice(0, startsVerb(half!) ? 2 : 1).join(" ");
  await host.stderr(`relay: there is no verb '${printable(name)}'\n\n${overview()}`);
  return ExitCode.malformed;
}

function startsVerb(word: string): boolean {
  return VERBS.some(({ name }) => name.startsWith(`${word} `));
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

/** Whether one of the arguments before `--` is of a kind. */
function hasFlag(args: readonly string[], isOfKind: (argument: string) => boolean): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some(isOfKind);
}

async function runOrTell(verb: Verb, args: readonly string[], host: Host): Promise<number> {
  try {
    return await runVerb(verb, args, host);
  } catch (thrown) {
    const isJson = hasFlag(args, (argument) => argument === "--json");
    const { code, words } = failureOf(verb, thrown, isJson);
    await host.stderr(words);
    return code;
  }
}

/**
 * How a verb that failed ends, and what stands on standard error: lines for people, or one JSON
 * object where a relay was asked.
 *
 * @throws what is no fault of the caller nor of a relay
 */
function failureOf(
  verb: Verb,
  thrown: unknown,
  isJson: boolean,
): { code: ExitCode; words: string } {
  const inLines = (...lines: string[]) => lines.map((line) => `${printable(line)}\n`).join("");
  if (thrown instanceof InputError || thrown instanceof FileError) {
    const isUsage = thrown instanceof UsageError;
    const hint = isUsage ? [`'relay ${verb.name} --help' tells how it is used`] : [];
    const words = inLines(`relay ${verb.name}: ${thrown.message}`, ...hint);
    return { code: ExitCode.malformed, words };
  }
  if (!isFailure(thrown)) throw thrown;
  const isRefused = thrown instanceof RefusalError;
  const code = isRefused ? ExitCode.refused : ExitCode.unreachable;
  const answer = thrown instanceof NetworkError ? undefined : thrown;
  const retryAfterMs = answer?.retryAfterMs;
  if (isJson) {
    const error = { code: thrown.code, message: thrown.message };
    return {
      code,
      words: jsonLine({ error, status: answer?.status, retry_after_ms: retryAfterMs }),
    };
  }
  const what = isRefused ? `refused (${thrown.code}): ` : "";
  const lines = [`relay ${verb.name}: ${what}${thrown.message}`];
  if (retryAfterMs !== undefined) {
    lines.push(`it may be tried again in ${Math.ceil(retryAfterMs / 1000)} s`);
  }
  if (thrown.mayHaveHappened && verb.isChanging) lines.push(UNCLEAR);
  return { code, words: inLines(...lines) };
}

const UNCLEAR = "it may have been carried out all the same: look before you repeat it " +
  "('relay outbox' shows what was sent, 'relay whoami' a registration)";

function overview(): string {
  const width = Math.max(...VERBS.map((verb) => verb.name.length));
  const verbs = VERBS.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`);
  return `Messages between agents, signed and checked.

Usage: relay VERB [arguments]

${verbs.join("\n")}

'relay VERB --help' tells how a verb is used and what it does not prove.

The relay is what RELAY_URL says, or --relay; your key is in ~/.config/relay/key.json, or where
RELAY_KEY_FILE or --key says. To begin:
  relay keygen
  relay register some_agent --relay https://relay.example
  relay send @other_agent --text "Are you there?"
  relay inbox --follow
`;
}
