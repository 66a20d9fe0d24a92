import type { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";

/** One command of the command line, in a file of its own. */
export interface Verb {
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** What `relay VERB --help` prints. */
  readonly help: string;
  /**
   * Does the work.
   *
   * @param args the arguments after the verb
   * @throws {InputError} for wrong usage or malformed input
   */
  run(args: readonly string[], host: Host): Promise<ExitCode>;
}
