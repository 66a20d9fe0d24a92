import { ExitCode } from "./exit_code.ts";
import { hash } from "./hash.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { keygen } from "./keygen.ts";
import { name } from "./name.ts";
import { printable } from "./printable.ts";
import type { Verb } from "./verb.ts";
import { verify } from "./verify.ts";

/** All verbs, in the order in which help lists them. */
export const VERBS: readonly Verb[] = [keygen, verify, hash, name];

/**
 * Runs the command line.
 *
 * @returns the exit code: 0, 1 or 3 as the verb says, 2 for malformed input or usage
 */
export async function run(host: Host): Promise<ExitCode> {
  const [first, ...rest] = host.args;
  if (first === undefined) {
    await host.stderr(overview());
    return ExitCode.malformed;
  }
  if (first === "help" || isHelp(first)) return await printHelp(host, rest[0]);
  const verb = verbNamed(first);
  if (verb === undefined) return await refuseVerb(host, first);
  if (asksForHelp(rest)) return await printHelp(host, first);
  try {
    return await verb.run(rest, host);
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown;
    const hint = thrown.isUsage ? `'relay ${verb.name} --help' tells how it is used\n` : "";
    await host.stderr(`relay ${verb.name}: ${printable(thrown.message)}\n${hint}`);
    return ExitCode.malformed;
  }
}

function verbNamed(text: string): Verb | undefined {
  return VERBS.find((verb) => verb.name === text);
}

function isHelp(argument: string): boolean {
  return argument === "--help" || argument === "-h";
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).some(isHelp);
}

async function printHelp(host: Host, name: string | undefined): Promise<ExitCode> {
  if (name === undefined || isHelp(name)) {
    await host.stdout(overview());
    return ExitCode.passed;
  }
  const verb = verbNamed(name);
  if (verb === undefined) return await refuseVerb(host, name);
  await host.stdout(verb.help);
  return ExitCode.passed;
}

async function refuseVerb(host: Host, name: string): Promise<ExitCode> {
  await host.stderr(`relay: there is no verb '${printable(name)}'\n\n${overview()}`);
  return ExitCode.malformed;
}

function overview(): string {
  const width = Math.max(...VERBS.map((verb) => verb.name.length));
  const verbs = VERBS.map((verb) => `  ${verb.name.padEnd(width)}  ${verb.summary}`);
  return `Messages between agents, signed and checked.

Usage: relay VERB [arguments]

${verbs.join("\n")}

'relay VERB --help' tells how a verb is used and what it does not prove.
`;
}
