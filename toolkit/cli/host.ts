import type { Clock } from "../client/clock.ts";
import type { callMailServer } from "../node/call_mail_server.ts";
import type { DnsNetwork } from "../node/dns_exchange.ts";
import type { HttpNetwork } from "../node/http_receiver.ts";
import type { FileSystem } from "../node/file_system.ts";

/** What the command line needs of the platform it runs on. Verbs touch nothing else. */
export interface Host extends FileSystem, DnsNetwork, HttpNetwork {
  /** The arguments after the program's name. */
  readonly args: readonly string[];
  env(name: string): string | undefined;
  stdin(): AsyncIterable<Uint8Array>;
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
  readonly callMailServer: typeof callMailServer;
  readonly clock: Clock;
}
