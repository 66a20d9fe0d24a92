/**
 * The agent that an address, handle or word name belongs to. The binding is for ever, so that every process
 * keeps in memory what it found, for the agents that it meets again.
 */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { Buffer } from "node:buffer";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import { readIdentifier } from "./identifier.ts";
import { agentKey, type AgentRecord, type Identity } from "./agent_records.ts";

/** Measured: 0.5 KB each. */
const REMEMBERED = 150_000;

/** ["address", address], ["handle", handle] and ["word", wordName] -> the agent's id. */
export interface BindingRow {
  v: 1;
  id: number;
}
const bindingKeys = {
  address: defineRecord<BindingRow, [address: string]>(["address"], 1, {
    holds: "`{id}` of the agent",
    expires: "for ever",
  }),
  handle: defineRecord<BindingRow, [handle: string]>(["handle"], 1, {
    holds: "`{id}` of the agent",
    expires: "for ever",
  }),
  word: defineRecord<BindingRow, [wordName: string]>(["word"], 1, {
    holds: "`{id}` of the agent",
    expires: "for ever",
  }),
};
export type Binding = keyof typeof bindingKeys;
export const bindingKey = (binding: Binding, name: string) => bindingKeys[binding](name);

interface Known {
  identity: Identity;
  /** Whether it was asked for since it last was the oldest. */
  used: boolean;
}

export class Identities {
  readonly #byId: BoundedMap<number, Known>;
  /** The agents of #byId under the names that they were looked up by. */
  readonly #byName: Record<Binding, Map<string, Known>> = {
    address: new Map(),
    handle: new Map(),
    word: new Map(),
  };
  /** Agents that had to be read, for figures and tests. */
  reads = 0;

  /** @param capacity agents that are kept in memory */
  constructor(private readonly store: Rows, capacity = REMEMBERED) {
    this.#byId = new BoundedMap(capacity, {
      stays: (known) => {
        const { used } = known;
        known.used = false;
        return used;
      },
      dropped: ({ identity }) => this.#drop(identity),
    });
  }

  /** Agents in memory now. */
  get size(): number {
    return this.#byId.size;
  }

  /** The agent with this base58 public key, banned ones included, or null. */
  async byAddress(address: string): Promise<Identity | null> {
    return await this.#find("address", address);
  }

  /** The agent that a handle, word name or key belongs to, banned ones included, or null. */
  async resolve(identifier: string): Promise<Identity | null> {
    const name = nameOf(identifier);
    return name === null ? null : await this.#find(...name);
  }

  /** The agent that resolve() would find without a read of the store, or undefined. */
  inMemory(identifier: string): Identity | undefined {
    const name = nameOf(identifier);
    return name === null ? undefined : this.#use(...name);
  }

  /** The agent that byAddress() would find without a read of the store, or undefined. */
  addressInMemory(address: string): Identity | undefined {
    return this.#use("address", address);
  }

  /** The agent of an id that stands in the store. @throws Error for any other id */
  async byId(id: number): Promise<Identity> {
    return (await this.#known(id)).identity;
  }

  /** Keeps the immutable part of a record that was read or written. */
  remember(agent: AgentRecord): Identity {
    return this.#keep(agent).identity;
  }

  async #find(binding: Binding, name: string): Promise<Identity | null> {
    const found = this.#use(binding, name);
    if (found !== undefined) return found;
    const row = await this.store.get<BindingRow>(bindingKey(binding, name));
    if (row.value === null) return null;
    const known = await this.#known(row.value.id);
    const { identity } = known;
    // Unless it had to leave meanwhile.
    if (this.#byId.get(identity.id) === known) {
      this.#byName[binding].set(nameIn(identity, binding), known);
    }
    return identity;
  }

  #use(binding: Binding, name: string): Identity | undefined {
    const known = this.#byName[binding].get(name);
    if (known !== undefined) known.used = true;
    return known?.identity;
  }

  async #known(id: number): Promise<Known> {
    const known = this.#byId.get(id);
    if (known !== undefined) {
      known.used = true;
      return known;
    }
    this.reads++;
    const row = await this.store.get<AgentRecord>(agentKey(id));
    if (row.value === null) throw new Error(`agent ${id} is not in the store`);
    return this.#keep(row.value);
  }

  #keep({ id, address, handle, wordName }: Omit<Identity, "publicKey">): Known {
    const present = this.#byId.get(id);
    if (present !== undefined) return present;
    const publicKey = Buffer.from(decodeAddress(address)).toString("base64url");
    const known = { identity: { id, address, handle, wordName, publicKey }, used: false };
    this.#byName.address.set(address, known);
    this.#byId.set(id, known);
    return known;
  }

  #drop({ address, handle, wordName }: Identity): void {
    this.#byName.address.delete(address);
    this.#byName.handle.delete(handle);
    this.#byName.word.delete(wordName);
  }
}

/** The name that an identifier stands for; null for text that no agent can have. */
function nameOf(identifier: string): [Binding, string] | null {
  const form = readIdentifier(identifier);
  if (form === null) return null;
  if (form.form === "handle") return ["handle", form.handle];
  if (form.form === "word-name") return ["word", form.wordName];
  return ["address", form.address];
}

/** The string of the agent itself, so that the one that was asked with need not be kept. */
function nameIn({ address, handle, wordName }: Identity, binding: Binding): string {
  return { address, handle, word: wordName }[binding];
}
