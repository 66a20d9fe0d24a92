import { parseArgs } from "node:util";
import type { Host } from "./host.ts";
import { UsageError } from "./failure.ts";
import { jsonLine } from "./print.ts";
import { printable } from "./printable.ts";

/**
 * What an argument or a value means.
 *
 * @param label what the caller calls it, such as `--limit` or `NAME`
 * @throws {InputError} for what it cannot be
 */
export type Reader<T> = (text: string, label: string) => T;

/** One option of a verb: what help says of it, and what the verb gets. */
export interface Option<T = unknown> {
  /** What help calls its value, `=VALUE` where that may be empty; undefined: it has none. */
  readonly value?: string;
  readonly words: string;
  /** Whether it may be given several times. */
  readonly multiple: boolean;
  readonly read: (given: boolean | string | string[], label: string) => T;
}

/** An option without a value. */
export function flag(words: string): Option<boolean | undefined> {
  return { words, multiple: false, read: (given) => given as boolean };
}

/** An option with one value; the last one counts. */
export function option(value: string, words: string): Option<string | undefined>;
export function option<T>(value: string, words: string, read: Reader<T>): Option<T | undefined>;
export function option(value: string, words: string, read: Reader<unknown> = asItIs): Option {
  return { value, words, multiple: false, read: (given, label) => read(given as string, label) };
}

/** An option that may be given several times. */
export function list(value: string, words: string): Option<string[] | undefined>;
export function list<T>(value: string, words: string, read: Reader<T>): Option<T[] | undefined>;
export function list(value: string, words: string, read: Reader<unknown> = asItIs): Option {
  const all = (given: string[], label: string) => given.map((text) => read(text, label));
  return { value, words, multiple: true, read: (given, label) => all(given as string[], label) };
}

function asItIs(text: string): string {
  return text;
}

type Options = Readonly<Record<string, Option>>;

/** What each option was given; undefined where it was not. */
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

/** The arguments that a declaration names: `TO [FILE|-]` is one, and maybe a second. */
type Arguments<A extends string> = A extends "" ? []
  : A extends `${infer First} ${infer Rest}` ? [...Arguments<First>, ...Arguments<Rest>]
  : A extends `[${string}...]` ? string[]
  : A extends `[${string}` ? [string?]
  : [string];

/** What a verb is called with. */
export interface Call<O extends Options = Options, A extends string = string> {
  readonly host: Host;
  readonly values: Values<O>;
  readonly args: Arguments<A>;
  /** Prints one result: with `--json` the value on a line of its own, else the words as they are. */
  print(value: unknown, words: string): Promise<void>;
  /** Says a line on standard error, after the verb's name. */
  tell(line: string): Promise<void>;
}

/**
 * One command of the command line, declared in a file of its own. Parsing,
 * help, completions and documents follow from it.
 */
export interface Verb<O extends Options = Options, A extends string = string> {
  /** One word, or two. */
  readonly name: string;
  /** What it does, in one line without an end. */
  readonly summary: string;
  /** Its arguments, in brackets those that may be left out; `[NAME...]` is any number. */
  readonly args?: A;
  /** What is said of an argument that is missing. */
  readonly hint?: string;
  /** What stands after its name, where arguments and `[options]` do not say it. */
  readonly usage?: string;
  /** Paragraphs of its help, in lines of at most 100 characters. */
  readonly about: string;
  /** By name, in the order of the help. */
  readonly options: O;
  /** The exit codes, where it does not ask a relay. */
  readonly exit?: string;
  readonly example?: string;
  /** Whether the relay may have done what it did not answer to. */
  readonly isChanging?: boolean;
  /**
   * Does the work.
   *
   * @returns the exit code; 0 for undefined
   * @throws {InputError} for wrong usage or malformed input
   * @throws {RefusalError | NetworkError | AnswerError} what the relay answered, or that it did not
   */
  run(call: Call<O, A>): Promise<number | void>;
  /**
   * Reports a failure in place of the words that all verbs share.
   *
   * @param values empty for wrong usage
   * @returns the exit code
   */
  fail?(thrown: unknown, tell: Call["tell"], values: Partial<Values<O>>): Promise<number>;
}

/** Checks what a verb says of itself, and forgets which verb it is. */
export function defineVerb<const A extends string = "", O extends Options = Options>(
  verb: Verb<O, A>,
): Verb {
  return verb as unknown as Verb;
}

/**
 * Runs a verb.
 *
 * @param given the arguments after its name
 * @returns the exit code
 * @throws {InputError} for wrong usage, and what the verb throws
 */
export async function runVerb(verb: Verb, given: readonly string[], host: Host): Promise<number> {
  const tell = (line: string) => host.stderr(`relay ${verb.name}: ${printable(line)}\n`);
  let values: Values<Options> = {};
  try {
    const parsed = parse(verb, given);
    values = parsed.values;
    const print = (value: unknown, words: string) =>
      host.stdout(values.json ? jsonLine(value) : words);
    return await verb.run({ host, values, args: parsed.args, print, tell }) ?? 0;
  } catch (thrown) {
    if (verb.fail === undefined) throw thrown;
    return await verb.fail(thrown, tell, values);
  }
}

function parse({ name, options, args = "", hint }: Verb, given: readonly string[]) {
  const { values, positionals } = readArguments(name, options, given);
  const names = args.split(" ").filter((word) => word !== "");
  const extra = args.endsWith("...]") ? undefined : positionals[names.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'`);
  const missing = names.slice(positionals.length).find((word) => !word.startsWith("["));
  if (missing !== undefined) {
    throw new UsageError(`${missing} is missing${hint === undefined ? "" : `: ${hint}`}`);
  }
  const read = Object.entries(values).map(([name, value]) => [
    name,
    options[name]!.read(value as boolean | string | string[], `--${name}`),
  ]);
  return { values: Object.fromEntries(read), args: positionals as Call["args"] };
}

function readArguments(verb: string, options: Options, given: readonly string[]) {
  const known = Object.entries(options).map(([name, { value, multiple }]) => {
    const type = value === undefined ? "boolean" as const : "string" as const;
    return [name, { type, multiple }] as const;
  });
  try {
    const config = { options: Object.fromEntries(known), allowPositionals: true, strict: true };
    return parseArgs({ args: [...given], ...config });
  } catch (thrown) {
    const { code, message } = thrown as { code?: string; message: string };
    throw new UsageError(
      code === "ERR_PARSE_ARGS_UNKNOWN_OPTION"
        ? `${message.split(". ", 1)[0]}: 'relay ${verb}' takes ${flagsOf(options).join(", ")}`
        : message.replaceAll("\n", " "),
    );
  }
}

/** How the options of a verb are written, `--help` among them. */
export function flagsOf(options: Options): string[] {
  return [...Object.keys(options), "help"].map((name) => `--${name}`);
}

const LINE_CHARACTERS = 100;
const INDENT = " ".repeat(20);
const RELAY_EXIT = "0; 2 wrong usage; 4 the relay refused; 5 no relay could be reached";

/** What `relay VERB --help` prints. */
export function helpOf(
  { name, summary, about, options, exit = RELAY_EXIT, ...verb }: Verb,
): string {
  const { args = "", usage = `${args} [options]`.trim(), example } = verb;
  const rows = Object.entries(options).map(([name, { value = "", words }]) => {
    const flag = `  --${name}${value.replace(/^(?=\w)/, " ")}`;
    return `${flag.padEnd(INDENT.length)}${wrapped(words)}`;
  });
  const parts = [
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    `Usage: relay ${name} ${usage}`,
    about.trim(),
    ...(rows.length === 0 ? [] : [`Options:\n${rows.join("\n")}`]),
    `Exit status: ${exit}.`,
    ...(example === undefined ? [] : [`Example:\n  ${example}`]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Words in lines, all but the first indented. */
function wrapped(words: string): string {
  const width = LINE_CHARACTERS - INDENT.length;
  const lines = words.match(new RegExp(`\\S(?:.{0,${width - 2}}\\S)?(?=\\s|$)`, "g"));
  return lines!.join(`\n${INDENT}`);
}
