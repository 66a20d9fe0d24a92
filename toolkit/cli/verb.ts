import type { ExitCode, Sysexit } from "./exit_code.ts";
import type { Host } from "./host.ts";

/** The options of a verb, as node:util parseArgs takes them. */
export type VerbOptions = {
  readonly [name: string]: {
    readonly type: "string" | "boolean";
    readonly short?: string;
    readonly multiple?: boolean;
  };
};

/** One command of the command line, in a file of its own. */
export interface Verb {
  /** One word, or two. */
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** What `relay VERB --help` prints. */
  readonly help: string;
  readonly options: VerbOptions;
  /**
   * Does the work.
   *
   * @param args the arguments after the verb
   * @throws {InputError} for wrong usage or malformed input
   * @throws {RefusalError | NetworkError | AnswerError} what the relay answered, or that it did not
   */
  run(args: readonly string[], host: Host): Promise<ExitCode | Sysexit>;
}
