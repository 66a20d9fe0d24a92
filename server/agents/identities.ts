/**
 * Who an address, handle or word name belongs to. The binding is for ever, so that what was found
 * once stays in memory in every process.
 */
import { decodeAddress } from "../../toolkit/decode_address.ts";
import { BoundedMap } from "../storage/bounded_map.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { readIdentifier } from "./identifier.ts";
import { agentKey, type AgentRecord, type Identity } from "./records.ts";
import { importVerifyingKey } from "./verifying_key.ts";

const REMEMBERED = 100_000;

/** ["address", address], ["handle", handle] and ["word", wordName] -> the agent's id. */
export interface BindingRow {
  v: 1;
  id: number;
  /** Attempt that registered the agent; on the address row alone. */
  attempt?: string;
}
export type Binding = "address" | "handle" | "word";
export const bindingKey = (binding: Binding, name: string): Deno.KvKey => [binding, name];

export class Identities {
  readonly #byId = new BoundedMap<number, Identity>(REMEMBERED);
  readonly #idByName = new BoundedMap<string, number>(3 * REMEMBERED);

  constructor(private readonly kv: Deno.Kv) {}

  /** The agent with this base58 public key, banned ones included, or null. */
  async byAddress(address: string): Promise<Identity | null> {
    return await this.#byName("address", address);
  }

  /** The agent that a handle, word name or key belongs to, banned ones included, or null. */
  async resolve(identifier: string): Promise<Identity | null> {
    const form = readIdentifier(identifier);
    if (form === null) return null;
    if (form.form === "handle") return await this.#byName("handle", form.handle);
    if (form.form === "word-name") return await this.#byName("word", form.wordName);
    return await this.#byName("address", form.address);
  }

  /** The agent that resolve() would find without a read of the store, or undefined. */
  inMemory(identifier: string): Identity | undefined {
    const form = readIdentifier(identifier);
    if (form === null) return undefined;
    const name = form.form === "handle"
      ? `handle/${form.handle}`
      : form.form === "word-name"
      ? `word/${form.wordName}`
      : `address/${form.address}`;
    const id = this.#idByName.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The agent of an id that stands in the store. @throws Error for any other id */
  async byId(id: number): Promise<Identity> {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const row = await retryWhileLocked(() => this.kv.get<AgentRecord>(agentKey(id)));
    if (row.value === null) throw new Error(`agent ${id} is not in the store`);
    return this.remember(row.value);
  }

  /** Keeps the immutable part of a record that was read or written. */
  remember({ id, address, handle, wordName }: AgentRecord): Identity {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const verifyingKey = importVerifyingKey(decodeAddress(address));
    const identity = { id, address, handle, wordName, verifyingKey };
    this.#byId.set(id, identity);
    for (const [binding, name] of [["address", address], ["handle", handle], ["word", wordName]]) {
      this.#idByName.set(`${binding}/${name}`, id);
    }
    return identity;
  }

  async #byName(binding: Binding, name: string): Promise<Identity | null> {
    const known = this.#idByName.get(`${binding}/${name}`);
    if (known !== undefined) return await this.byId(known);
    const row = await retryWhileLocked(() => this.kv.get<BindingRow>(bindingKey(binding, name)));
    return row.value === null ? null : await this.byId(row.value.id);
  }
}
