/**
 * The one secret of the mail area: 32 random bytes, made with the first org, sealed under the
 * custody key like agents' keys (docs/adr/0036). What is signed with it lives on when
 * the custody key is changed.
 */
import { hkdfSync } from "node:crypto";
import type { KeyRing } from "../../base/sealing/key_ring.ts";
import type { SealedRows } from "../../base/sealing/reseal.ts";
import { type KeyMark, keyMarkKey, type SealedRow } from "../../base/sealing/sealed_rows.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";

const SECRET_BYTES = 32;
const KEY_BYTES = 32;
const BOUND_TO = new TextEncoder().encode("relay mail secret");

const secretsKey = defineRecord<SealedRow, [n: 0]>(["mail-secret"], 1, {
  holds: "32 bytes sealed under a custody key; of them come the keys of cursors, links, " +
    "bounce addresses and secrets of webhooks",
});
const secretKey = secretsKey(0);

/** The row of the secret, for resealing it. */
export const SEALED_MAIL_SECRET: SealedRows = {
  prefix: secretsKey.under(),
  boundTo: () => Promise.resolve(BOUND_TO),
};

/** What a key is for: HKDF's info, so that no use can forge another's. */
export type SecretUse = "mail-bounce" | "mail-link" | "mail-cursor" | "mail-webhook";

export interface MailSecretOptions {
  records: RecordCache;
  commits: GroupCommit;
  ring: KeyRing;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
}

export class MailSecret {
  readonly #keys = new Map<SecretUse, Uint8Array>();
  #secret: Promise<Uint8Array> | null = null;

  constructor(private readonly options: MailSecretOptions) {}

  /**
   * The 32-byte key for one use; the secret is made where the store has none yet.
   * @throws UnknownCustodyKey when the secret is sealed under a custody key that is not configured
   */
  async key(use: SecretUse): Promise<Uint8Array> {
    const known = this.#keys.get(use);
    if (known !== undefined) return known;
    this.#secret ??= this.#open().catch((error) => {
      this.#secret = null; // the store may answer next time
      throw error;
    });
    const derived = hkdfSync("sha256", await this.#secret, new Uint8Array(0), use, KEY_BYTES);
    const key = new Uint8Array(derived);
    this.#keys.set(use, key);
    return key;
  }

  /** The custody key that the stored secret is sealed under, where it is not configured; else null. */
  async missingCustodyKey(): Promise<string | null> {
    const row = await this.options.records.read<SealedRow>(secretKey);
    return row === null || this.options.ring.has(row.keyId) ? null : row.keyId;
  }

  async #open(): Promise<Uint8Array> {
    const row = await this.options.records.read<SealedRow>(secretKey) ?? await this.#make();
    return this.options.ring.open(row, BOUND_TO);
  }

  /** Of several relays that start at the same time, the first wins. */
  async #make(): Promise<SealedRow> {
    const { commits, ring, random } = this.options;
    const fresh = random(SECRET_BYTES);
    return await commits.submit((transaction) => {
      const stored = transaction.record(secretKey);
      if (stored !== null) return stored;
      const row: SealedRow = { v: 1, ...ring.seal(fresh, BOUND_TO) };
      transaction.putRecord(secretKey, row);
      transaction.set(
        keyMarkKey(row.keyId),
        { v: 1, sealedAtMs: transaction.nowMs } satisfies KeyMark,
      );
      return row;
    });
  }
}
