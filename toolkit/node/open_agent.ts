import { connectionOf, type ConnectionOptions } from "../client/connection.ts";
import type { PinnedAddresses } from "../client/pins.ts";
import { RefusalError } from "../client/refusal_error.ts";
import type { NewAgent } from "../client/register_agent.ts";
import { RelayClient } from "../client/relay_client.ts";
import { generateKeyPair, type KeyPair } from "../generate_key_pair.ts";
import { normalHandle } from "../recipient.ts";
import { type Agent, createAgent } from "./agent.ts";
import { FileError } from "./file_error.ts";
import { openKeyFile, readKeyFile, writeKeyFile } from "./key_file.ts";
import { permissionWarning, secondRelayWarning } from "./key_warnings.ts";
import { nodeFiles } from "./node_files.ts";
import { stateFile } from "./state_file.ts";
import { watchRelay } from "./watch_relay.ts";

/**
 * Which agent, and where its key is. What it says of itself (`display_name`, `description`, `tags`)
 * is told the relay when it registers, and not again.
 */
export interface OpenAgentOptions extends ConnectionOptions, NewAgent {
  /**
   * The key file, made where there is none: for this agent at this relay alone, readable by its
   * owner alone. Used timestamps and the cursor are kept beside it.
   */
  readonly file: string;
  /** Locks the key in the file; without one it stands there as it is. */
  readonly passphrase?: string;
  /** Known agents; messages of others can not be `proven`. */
  readonly pins?: PinnedAddresses;
  /** Called with what an operator should mend; console.warn unless given. */
  readonly onWarning?: (words: string) => void;
}

/**
 * Opens an agent that keeps its key and its place in files. Loads or makes the key, and registers
 * it if it is not registered yet. The client that it returns may be stopped and opened again at any
 * moment. For Node.js, Deno (with read, write, env and net permission) and Bun.
 *
 * @throws {FileError} for a file that is no key file, cannot be written, has another passphrase, or
 * holds the key of another handle
 * @throws {RefusalError} `handle_taken`, `reserved_handle`, `invalid_handle`, ...
 * @throws {NetworkError | AnswerError} when no relay answers within `retryForMs`
 * @throws {TypeError} for options that are none
 *
 * @example
 * ```ts
 * import { overall } from "agent-relay-toolkit";
 * import { openAgent } from "agent-relay-toolkit/node";
 *
 * export async function answer(relay: string, asker: string): Promise<void> {
 *   const pins = { some_asker: asker }; // its address, as you know it from elsewhere
 *   const agent = await openAgent({ relay, handle: "some_agent", file: "some_agent.json", pins });
 *   await agent.receive(async ({ message, report }) => {
 *     if (overall(report) !== "proven") return;
 *     await agent.send({ to: message.from, body: { text: "42" }, in_reply_to: message.id });
 *   });
 * }
 * ```
 */
export async function openAgent(options: OpenAgentOptions): Promise<Agent> {
  const { file, passphrase, pins, onWarning = (words: string) => console.warn(words) } = options;
  if (typeof file !== "string" || file === "") {
    throw new TypeError("file must be the path of the agent's key file, such as some_agent.json");
  }
  const connection = connectionOf(options);
  const relay = connection.origin;
  const { keys, isNew } = await loadOrMakeKeys(file, passphrase);
  const warning = await permissionWarning(nodeFiles, file);
  if (warning !== undefined) onWarning(warning);

  const state = stateFile(nodeFiles, file);
  const fetch = watchRelay(connection.fetch, state, relay, (home) => {
    onWarning(secondRelayWarning(home, relay, file));
  });
  const { usedTimestamps } = state;
  const client = new RelayClient({ ...options, relay, fetch, keys, usedTimestamps, pins });
  const { handle, word_name } = await registered(client, options, isNew);
  await state.keepHome({ relay, handle, word_name });
  return createAgent({ client, state, relay, address: keys.address, handle, word_name });
}

/**
 * The keys of a key file; makes them, and the file, where there is none. Of several processes that
 * do so at once one makes them, and all have the same.
 *
 * @param passphrase what locks the key in the file; undefined: nothing does
 * @throws {FileError} for a file that is none or cannot be written, and a wrong or missing passphrase
 */
async function loadOrMakeKeys(
  path: string,
  passphrase: string | undefined,
): Promise<{ keys: KeyPair; isNew: boolean }> {
  return await nodeFiles.withLock(`${path}.lock`, async () => {
    const found = await readKeyFile(nodeFiles, path);
    if (found !== undefined) {
      return { keys: await openKeyFile(found, () => required(path, passphrase)), isNew: false };
    }
    const keys = generateKeyPair();
    if (await writeKeyFile(nodeFiles, path, keys, { force: false, passphrase })) {
      return { keys, isNew: true };
    }
    throw new FileError(`'${path}' was made by another program just now: open it again`);
  });
}

function required(path: string, passphrase: string | undefined): string {
  if (passphrase !== undefined) return passphrase;
  throw new FileError(`the key in '${path}' has a passphrase: pass it`);
}

interface Names {
  readonly handle: string;
  readonly word_name: string;
}

async function registered(
  client: RelayClient,
  options: OpenAgentOptions,
  isNew: boolean,
): Promise<Names> {
  const { handle, relay, file } = options;
  // A key that was made before may have been registered, its answer lost with its process.
  const own = (isNew ? undefined : await whoamiOrNothing(client)) ??
    await register(client, options);
  if (own.handle === normalHandle(handle)) return own;
  throw new FileError(
    `'${file}' holds the key of @${own.handle} at ${relay}, not of @${
      normalHandle(handle) ?? handle
    }: ` +
      "a key keeps its handle, so open another file, or open this one as what it is",
  );
}

/** Registers the key, unless another process that opens the file has done so meanwhile. */
async function register(
  client: RelayClient,
  { handle, display_name, description, tags }: OpenAgentOptions,
): Promise<Names> {
  try {
    return await client.register({ handle, display_name, description, tags });
  } catch (thrown) {
    if (!(thrown instanceof RefusalError) || thrown.code !== "handle_taken") throw thrown;
    const own = await whoamiOrNothing(client);
    if (own === undefined) throw thrown;
    return own;
  }
}

async function whoamiOrNothing(client: RelayClient): Promise<Names | undefined> {
  try {
    return await client.whoami();
  } catch (thrown) {
    if (thrown instanceof RefusalError && thrown.code === "unknown_agent") return undefined;
    throw thrown;
  }
}
