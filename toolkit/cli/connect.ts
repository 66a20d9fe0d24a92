import type { ConnectionOptions, Retry } from "../client/connection.ts";
import { connectionOf } from "../client/connection.ts";
import type { Pins } from "../client/pins.ts";
import { RelayClient } from "../client/relay_client.ts";
import type { KeyPair } from "../generate_key_pair.ts";
import { openKeyFile } from "../node/key_file.ts";
import { secondRelayWarning } from "../node/key_warnings.ts";
import { type StateFile, stateFile } from "../node/state_file.ts";
import { watchRelay } from "../node/watch_relay.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { findKeyFile, keyLocation } from "./key_location.ts";
import { askPassphrase } from "./passphrase.ts";
import { readPins } from "./pins_file.ts";
import { printable } from "./printable.ts";

/** The options of every verb that talks to a relay. */
export const RELAY_OPTIONS = {
  relay: { type: "string" },
  "retry-for": { type: "string" },
  json: { type: "boolean" },
} as const;

/** The options of every verb that signs. */
export const SIGNING_OPTIONS = { ...RELAY_OPTIONS, key: { type: "string" } } as const;

/** What the help of every verb that talks to a relay says of them. */
export const RELAY_OPTIONS_HELP =
  `  --relay URL       the relay, such as https://relay.example; else what RELAY_URL says
  --retry-for S     how many seconds to try when the relay does not answer or is busy; 15`;

/** The same of every verb that signs. */
export const SIGNING_OPTIONS_HELP = `${RELAY_OPTIONS_HELP}
  --key FILE        the key file; else RELAY_KEY_FILE, else ~/.config/relay/key.json`;

/** The last lines of their help. */
export const RELAY_EXIT_HELP =
  "Exit status: 0; 2 wrong usage; 4 the relay refused; 5 no relay could be reached.";

interface RelayValues {
  readonly relay?: string | undefined;
  readonly "retry-for"?: string | undefined;
}

/**
 * How to reach the relay that the caller chose.
 *
 * @param verb who tells on standard error that it tries again
 * @throws {InputError} when none is chosen, or it is no relay's address
 */
export function relayOptions(host: Host, verb: string, values: RelayValues): ConnectionOptions {
  const relay = values.relay ?? host.env("RELAY_URL");
  if (!relay) throw new InputError("which relay? Pass --relay URL, or set RELAY_URL", "usage");
  const options: ConnectionOptions = {
    relay,
    fetch: host.fetch,
    clock: host.clock,
    retryForMs: retryForMs(values["retry-for"]),
    onRetry(retry) {
      // Ever more seldom, for it may go on for days.
      if (Number.isInteger(Math.log2(retry.tries))) void host.stderr(retryLine(verb, retry));
    },
  };
  try {
    return { ...options, relay: connectionOf(options).origin };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new InputError(`--relay: ${thrown.message}`, "usage");
  }
}

/** A client without keys. */
export function openClient(host: Host, verb: string, values: RelayValues): RelayClient {
  return new RelayClient(relayOptions(host, verb, values));
}

/** How the agent whose key file the caller chose talks to the relay that the caller chose. */
export interface Session {
  readonly connection: ConnectionOptions;
  readonly keys: KeyPair;
  readonly state: StateFile;
  /** The relay's origin. */
  readonly relay: string;
}

/**
 * Opens the key file for the relay. When the key belongs to another relay, it is told on standard
 * error as soon as this one has answered.
 *
 * @throws {InputError | FileError} when there is no relay, no key file, or it does not open
 */
export async function openSession(
  host: Host,
  verb: string,
  values: RelayValues & { readonly key?: string | undefined },
): Promise<Session> {
  const options = relayOptions(host, verb, values);
  const { relay } = options;
  const { keys, state, path } = await openKeys(host, values.key);
  const fetch = watchRelay(host.fetch, state, relay, async (home) => {
    const warning = secondRelayWarning(home, relay, path);
    await host.stderr(`relay ${verb}: ${printable(warning)}\n`);
  });
  return { connection: { ...options, fetch }, keys, state, relay };
}

/** A session, and a client that signs with its key. */
export interface SigningClient extends Session {
  readonly client: RelayClient;
  readonly pins: Pins;
}

/**
 * A client for the agent whose key file the caller chose.
 *
 * @throws {InputError | FileError} as {@linkcode openSession}
 */
export async function openSigningClient(
  host: Host,
  verb: string,
  values: RelayValues & { readonly key?: string | undefined },
): Promise<SigningClient> {
  const session = await openSession(host, verb, values);
  const { connection, keys, state } = session;
  const { pinned, pins } = await readPins(host);
  const { usedTimestamps } = state;
  const client = new RelayClient({ ...connection, keys, usedTimestamps, pins: pinned });
  return { ...session, client, pins };
}

/**
 * The keys of the key file that the caller chose, and what is kept beside it.
 *
 * @throws {InputError | FileError} when there is none, or it does not open
 */
export async function openKeys(
  host: Host,
  option: string | undefined,
): Promise<{ keys: KeyPair; state: StateFile; path: string }> {
  const file = await findKeyFile(host, option);
  if (file !== undefined) {
    const keys = await openKeyFile(file, () => askPassphrase(host, false));
    return { keys, state: stateFile(host, file.path), path: file.path };
  }
  const location = keyLocation(host, option);
  const where = location === undefined ? "" : ` at '${location.path}'`;
  throw new InputError(
    `there is no key file${where}: make one with 'relay keygen', or name one with --key FILE`,
  );
}

function retryForMs(text: string | undefined): number {
  if (text === undefined) return 15_000;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  throw new InputError(`--retry-for takes whole seconds from 0, not '${text}'`, "usage");
}

function retryLine(verb: string, { failure, delayMs }: Retry): string {
  const wait = (delayMs / 1000).toFixed(1);
  return `relay ${verb}: ${printable(failure.message)}; trying again in ${wait} s\n`;
}
