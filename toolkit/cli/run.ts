import { VERSION } from "../version.ts";
import { completionsVerb } from "./completions.ts";
import { ExitCode, failureOf } from "./failure.ts";
import { find } from "./find.ts";
import { hash } from "./hash.ts";
import type { Host } from "./host.ts";
import { inbox } from "./inbox.ts";
import { keygen } from "./keygen.ts";
import { mailCheck } from "./mail_check.ts";
import { mailDns } from "./mail_dns.ts";
import { mailInject } from "./mail_inject.ts";
import { mailRegister } from "./mail_register.ts";
import { name } from "./name.ts";
import { outbox } from "./outbox.ts";
import { pin } from "./pin.ts";
import { printable } from "./printable.ts";
import { register } from "./register.ts";
import { resolve } from "./resolve.ts";
import { send } from "./send.ts";
import { sign } from "./sign.ts";
import { helpOf, runVerb, type Verb } from "./verb.ts";
import { verify } from "./verify.ts";
import { webhookListen } from "./webhook_listen.ts";
import { whoami } from "./whoami.ts";

/** All verbs, in the order of the help. */
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
  mailCheck,
  webhookListen,
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
