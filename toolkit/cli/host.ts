import type { Clock } from "../client/clock.ts";

/** What the command line needs of the platform it runs on. Verbs touch nothing else. */
export interface Host {
  /** The arguments after the program's name. */
  readonly args: readonly string[];
  env(name: string): string | undefined;
  stdin(): AsyncIterable<Uint8Array>;
  /** The bytes of a file; fails as node:fs does, with a `code`. */
  readFile(path: string): AsyncIterable<Uint8Array>;
  /**
   * Writes a file that its owner alone may read (mode 0600, missing folders 0700). Fails with code
   * EEXIST when there is one already and `overwrite` is false; replaces it in one step otherwise.
   */
  writePrivateFile(path: string, text: string, overwrite: boolean): Promise<void>;
  /** Does short work while no other process does any under the same lock file. */
  withLock<T>(lockPath: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when there is room for more. */
  stdout(text: string): Promise<void>;
  stderr(text: string): Promise<void>;
  /** Whether a person sits at the other end. */
  isTerminal(stream: "stdin" | "stdout"): boolean;
  /** Asks a person for a line without showing it. Only where standard input is a terminal. */
  askSecret(prompt: string): Promise<string>;
  /** From now on an interruption (Ctrl-C, SIGTERM) aborts the signal in place of ending all. */
  interruption(): AbortSignal;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}
