/**
 * Holds the private keys of agents that left them here (specification, section 3, "Agent custody").
 * A key is made here, encrypted in the store, decrypted to sign, and given away once.
 */
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import { encodeAddress } from "../../../toolkit/encode_address.ts";
import type { Identity } from "../agents/agent_records.ts";
import { RelayError } from "../../base/errors.ts";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { KeyRing, UnknownCustodyKey } from "../../base/sealing/key_ring.ts";
import { type SealedRow, stageKeyMark } from "../../base/sealing/sealed_rows.ts";
import { custodyKey } from "./sealed_agent_keys.ts";

const SEED_BYTES = 32;
/** PKCS#8 before a 32-byte seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** Decrypting and importing a key costs more than signing with it. */
const REMEMBERED_KEYS = 10_000;

/** A key pair made for an agent that is about to be registered. */
export interface NewAgentKey {
  /** base58 of the public key. */
  address: string;
  /** Stages the encrypted private key, in the commit that registers the agent. */
  stage(transaction: Transaction, agentId: number): void;
}

export interface CustodyOptions {
  records: RecordCache;
  ring: KeyRing;
  /** Ids of the custody keys that the store's rows may name. */
  markedKeys: readonly string[];
  /** Ids of custody keys that the operator has given up. */
  lostKeys: readonly string[];
  random: (sizeBytes: number) => Uint8Array;
}

export class Custody {
  /** Keys that the store names, that this relay was not given, and that are not given up. */
  readonly missingKeys: readonly string[];
  /** Keys that the store names and that were given up: they do not block registrations. */
  readonly givenUpKeys: readonly string[];
  readonly #signingKeys = new BoundedMap<number, KeyObject>(REMEMBERED_KEYS);

  constructor(private readonly options: CustodyOptions) {
    const { ring, markedKeys, lostKeys } = options;
    const absent = markedKeys.filter((keyId) => !ring.has(keyId));
    this.missingKeys = absent.filter((keyId) => !lostKeys.includes(keyId));
    this.givenUpKeys = absent.filter((keyId) => lostKeys.includes(keyId));
  }

  /**
   * Whether new agents may leave their keys here. There must be a key to encrypt with. No key that
   * the store names may be missing, which would show a wrong configuration.
   */
  get on(): boolean {
    return this.options.ring.primaryId !== null && this.missingKeys.length === 0;
  }

  /** @throws RelayError `internal` where no new agent may leave its key here */
  refuseWhenOff(): void {
    if (this.on) return;
    throw new RelayError(
      "internal",
      "relay custody is off on this server; register with a key of your own at POST /v1/register, or tell the operator (start-up says what is missing)",
      {
        toolMessage:
          "relay custody is off on this server; nobody can register with a tool until its operator turns it on (start-up says what is missing)",
      },
    );
  }

  /** A new key pair. @throws RelayError `internal` as refuseWhenOff */
  newAgentKey(): NewAgentKey {
    this.refuseWhenOff();
    const { ring, random } = this.options;
    const seed = random(SEED_BYTES);
    const publicKey = publicKeyOf(importSigningKey(seed));
    const sealed = ring.seal(seed, publicKey);
    return {
      address: encodeAddress(publicKey),
      stage(transaction, agentId) {
        transaction.set(custodyKey(agentId), { v: 1, ...sealed } satisfies SealedRow);
        stageKeyMark(transaction, sealed.keyId);
      },
    };
  }

  /**
   * The private key of an agent, to sign with; null for one that holds it itself.
   * @throws RelayError `internal` when its custody key is not configured
   */
  async signingKey(agent: Identity): Promise<KeyObject | null> {
    const known = this.#signingKeys.get(agent.id);
    if (known !== undefined) return known;
    const row = await this.options.records.read<SealedRow>(custodyKey(agent.id));
    if (row === null) return null;
    const key = importSigningKey(this.openSeed(agent, row));
    this.#signingKeys.set(agent.id, key);
    return key;
  }

  /** The 32-byte seed in a custody row. @throws RelayError `internal` as signingKey */
  openSeed(agent: Identity, row: SealedRow): Uint8Array {
    try {
      return this.options.ring.open(row, decodeAddress(agent.address));
    } catch (error) {
      if (!(error instanceof UnknownCustodyKey)) throw error;
      throw new RelayError(
        "internal",
        this.options.lostKeys.includes(error.keyId)
          ? "the custody key that this agent's private key is encrypted under is lost: the agent can read, but neither send nor be exported any more; to send, register another"
          : "the relay was started without the custody key that this agent's private key is encrypted under; reading works, sending and export wait until its operator configures it",
        { cause: error },
      );
    }
  }

  /** Drops the decrypted key of an agent from memory. */
  forget(agentId: number): void {
    this.#signingKeys.delete(agentId);
  }
}

/**
 * The key as the native signer takes it; the toolkit's pure code would be 30 times slower.
 * @param seed 32 bytes (RFC 8032, 5.1.5)
 */
function importSigningKey(seed: Uint8Array): KeyObject {
  const key = Buffer.concat([PKCS8_PREFIX, seed]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

/** The 32-byte public key of a signing key. */
function publicKeyOf(signingKey: KeyObject): Uint8Array {
  const { x } = createPublicKey(signingKey as never).export({ format: "jwk" });
  return new Uint8Array(Buffer.from(x!, "base64url"));
}
