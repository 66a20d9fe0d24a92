import { connectionOf, type ConnectionOptions } from "../client/connection.ts";
import { RelayClient } from "../client/relay_client.ts";
import { secondRelayWarning } from "../node/key_warnings.ts";
import { watchRelay } from "../node/watch_relay.ts";
import { UsageError } from "./failure.ts";
import { KEY, openKeys } from "./own_keys.ts";
import { readPins } from "./pins_file.ts";
import { wholeNumber } from "./readers.ts";
import { type Call, option } from "./verb.ts";

/** The options of every verb that talks to a relay. */
export const RELAY_OPTIONS = {
  relay: option("URL", "the relay, such as https://relay.example; else what RELAY_URL says"),
  "retry-for": option(
    "S",
    "how many seconds to try when the relay does not answer or is busy; 15",
  ),
};

/** The options of every verb that signs. */
export const SIGNING_OPTIONS = { ...RELAY_OPTIONS, key: KEY };

/** What a verb that talks to a relay is called with. */
type RelayCall = Pick<Call<typeof RELAY_OPTIONS>, "host" | "values" | "tell">;

/** What a verb that signs is called with. */
type SigningCall = Pick<Call<typeof SIGNING_OPTIONS>, "host" | "values" | "tell">;

/**
 * How to reach the relay that the caller chose; tells when it tries again.
 *
 * @throws {InputError} when none is chosen, or it is no relay's address
 */
export function relayOptions({ host, values, tell }: RelayCall): ConnectionOptions {
  const relay = values.relay ?? host.env("RELAY_URL");
  if (!relay) throw new UsageError("which relay? Pass --relay URL, or set RELAY_URL");
  const seconds = wholeNumber(0, 999_999_999)(values["retry-for"] ?? "15", "--retry-for");
  const options: ConnectionOptions = {
    relay,
    fetch: host.fetch,
    clock: host.clock,
    retryForMs: seconds * 1000,
    onRetry({ failure, tries, delayMs }) {
      // Ever more seldom, for it may go on for days.
      if (!Number.isInteger(Math.log2(tries))) return;
      void tell(`${failure.message}; trying again in ${(delayMs / 1000).toFixed(1)} s`);
    },
  };
  try {
    return { ...options, relay: connectionOf(options).origin };
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new UsageError(`--relay: ${thrown.message}`);
  }
}

/** A client without keys. */
export function openClient(call: RelayCall): RelayClient {
  return new RelayClient(relayOptions(call));
}

/**
 * Opens the key file for the relay. When the key belongs to another relay, it is told on standard
 * error as soon as this one has answered.
 *
 * @returns the relay's origin, how to reach it, the agent's keys, and what is kept beside them
 * @throws {InputError | FileError} when there is no relay, no key file, or it does not open
 */
export async function openSession(call: SigningCall) {
  const { host, values, tell } = call;
  const options = relayOptions(call);
  const { relay } = options;
  const { keys, state, path } = await openKeys(host, values.key);
  const warn = (home: string) => tell(secondRelayWarning(home, relay, path));
  const fetch = watchRelay(host.fetch, state, relay, warn);
  return { connection: { ...options, fetch }, keys, state, relay };
}

/**
 * A session, and a client that signs with its key.
 *
 * @throws {InputError | FileError} as {@linkcode openSession}
 */
export async function openSigningClient(call: SigningCall) {
  const session = await openSession(call);
  const { connection, keys, state: { usedTimestamps } } = session;
  const { pinned, pins } = await readPins(call.host);
  const client = new RelayClient({ ...connection, keys, usedTimestamps, pins: pinned });
  return { ...session, client, pins };
}
