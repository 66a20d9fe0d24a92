/**
 * Who an address, handle or word name belongs to. The binding is for ever, so that every process
 * keeps in memory what it found, for the agents that it meets again.
 */
import type { Rows } from "../storage/rows.ts";
import { Buffer } from "node:buffer";
import { decodeAddress } from "../../toolkit/decode_address.ts";
import { PackedTexts } from "../storage/packed_texts.ts";
import { defineRecord } from "../storage/record_key.ts";
import { SegmentedMap } from "../storage/segmented_map.ts";
import { readIdentifier } from "./identifier.ts";
import { agentKey, type AgentRecord, type Identity } from "./records.ts";

/** Measured: 0.5 KB each. */
const REMEMBERED = 100_000;
/** Of agents that had to leave: 200 bytes each and 90 for each further name, taken as they come. */
const PACKED_BYTES = 48 * 2 ** 20;

/** ["address", address], ["handle", handle] and ["word", wordName] -> the agent's id. */
export interface BindingRow {
  v: 1;
  id: number;
}
const bindingKeys = {
  address: defineRecord<BindingRow, [address: string]>(["address"], 1),
  handle: defineRecord<BindingRow, [handle: string]>(["handle"], 1),
  word: defineRecord<BindingRow, [wordName: string]>(["word"], 1),
};
export type Binding = keyof typeof bindingKeys;
export const bindingKey = (binding: Binding, name: string) => bindingKeys[binding](name);

interface Known {
  identity: Identity;
  uses: number;
}

export class Identities {
  readonly #byId: SegmentedMap<number, Known>;
  /** The agents of #byId under those of their names that they were asked for by. */
  readonly #byName: Record<Binding, Map<string, Known>> = {
    address: new Map(),
    handle: new Map(),
    word: new Map(),
  };
  /**
   * Agents that had to leave: under an address its id, handle and word name; the address under the id
   * and those of its names that it was asked for by.
   */
  readonly #packed: PackedTexts;
  /** Agents that had to be read, for figures and tests. */
  reads = 0;

  /**
   * @param capacity agents that are kept in memory
   * @param packedBytes of those that had to leave
   */
  constructor(private readonly store: Rows, capacity = REMEMBERED, packedBytes = PACKED_BYTES) {
    this.#packed = new PackedTexts(packedBytes);
    this.#byId = new SegmentedMap(capacity, { dropped: (_, { identity }) => this.#drop(identity) });
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
    return name === null ? undefined : this.#byName[name[0]].get(name[1])?.identity;
  }

  /** The agent that byAddress() would find without a read of the store, or undefined. */
  addressInMemory(address: string): Identity | undefined {
    return this.#byName.address.get(address)?.identity;
  }

  /** The agent of an id that stands in the store. @throws Error for any other id */
  async byId(id: number): Promise<Identity> {
    return (this.#byId.get(id) ?? this.#unpack("id", String(id)) ?? await this.#read(id)).identity;
  }

  /** Keeps the immutable part of a record that was read or written. */
  remember(agent: AgentRecord): Identity {
    return this.#keep(agent).identity;
  }

  async #find(binding: Binding, name: string): Promise<Identity | null> {
    const names = this.#byName[binding];
    const found = names.get(name);
    if (found !== undefined) {
      found.uses++;
      return found.identity;
    }
    const unpacked = this.#unpack(binding, name);
    if (unpacked !== undefined) return this.#found(unpacked, binding);
    const row = await this.store.get<BindingRow>(bindingKey(binding, name));
    if (row.value === null) return null;
    const { id } = row.value;
    const known = this.#byId.get(id) ?? await this.#read(id);
    return this.#found(known, binding);
  }

  #found(known: Known, binding: Binding): Identity {
    const { identity } = known;
    // Unless it had to leave meanwhile.
    if (this.#byId.peek(identity.id) === known) {
      this.#byName[binding].set(nameIn(identity, binding), known);
    }
    return identity;
  }

  async #read(id: number): Promise<Known> {
    this.reads++;
    const row = await this.store.get<AgentRecord>(agentKey(id));
    if (row.value === null) throw new Error(`agent ${id} is not in the store`);
    return this.#keep(row.value);
  }

  #keep({ id, address, handle, wordName }: Omit<Identity, "publicKey">): Known {
    const present = this.#byId.peek(id);
    if (present !== undefined) return present;
    const publicKey = Buffer.from(decodeAddress(address)).toString("base64url");
    const known = { identity: { id, address, handle, wordName, publicKey }, uses: 0 };
    this.#byName.address.set(address, known);
    this.#byId.add(id, known);
    return known;
  }

  #drop({ id, address, handle, wordName }: Identity): void {
    this.#byName.address.delete(address);
    this.#packed.set(`address/${address}`, JSON.stringify([id, handle, wordName]));
    this.#packed.set(`id/${id}`, address);
    if (this.#byName.handle.delete(handle)) this.#packed.set(`handle/${handle}`, address);
    if (this.#byName.word.delete(wordName)) this.#packed.set(`word/${wordName}`, address);
  }

  /** An agent that had to leave, again in memory. */
  #unpack(binding: Binding | "id", name: string): Known | undefined {
    const address = binding === "address" ? name : this.#packed.take(`${binding}/${name}`);
    if (address === undefined) return undefined;
    // One that came back by another name is here.
    const present = this.#byName.address.get(address);
    if (present !== undefined) return present;
    const text = this.#packed.take(`address/${address}`);
    if (text === undefined) return undefined;
    const [id, handle, wordName] = JSON.parse(text) as [number, string, string];
    return this.#keep({ id, address, handle, wordName });
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
