/** Rows written into a store file past Deno KV, which takes ten times as long for them. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { serializedValue } from "./serialized_value.ts";

/** How Deno KV marks what a value is, in its column v_encoding. */
const SERIALIZED = 1;
const SUM = 2;
const BYTES = 3;
const NEVER = -1;
const INDEX = "kv_expiration_ms_idx";
const ROWS_A_TRANSACTION = 50_000;

const encoder = new TextEncoder();

/** A number that Deno KV holds as a Deno.KvU64. */
export class Sum {
  constructor(readonly value: bigint) {}
}

/** Strings without U+0000, numbers and bytes. */
export type PlainKey = readonly (string | number | Uint8Array)[];

/** A store file that Deno KV made and has closed; reading and writing it is Deno KV's again after close(). */
export class KvFile implements Disposable {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #index: string;
  #open = 0;

  private constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576");
    // Made again at the end, in one go: kept up row by row it would take as long as the rows.
    const index = this.#db.prepare("SELECT sql FROM sqlite_master WHERE name = ?").get(INDEX)!;
    this.#index = String(index["sql"]);
    this.#db.exec(`DROP INDEX ${INDEX}`);
    this.#insert = this.#db.prepare(
      "INSERT OR REPLACE INTO kv (k, v, v_encoding, version, expiration_ms) VALUES (?, ?, ?, 1, ?)",
    );
  }

  /** Makes the tables where the file is new. */
  static async open(path: string): Promise<KvFile> {
    const kv = await Deno.openKv(path);
    await kv.get(["anything"]); // it opens its file when it is first asked
    kv.close();
    return new KvFile(path);
  }

  /** @param expiresAtMs unix ms; never when it is left out */
  set(key: PlainKey, value: unknown, expiresAtMs = NEVER): void {
    if (this.#open++ === 0) this.#db.exec("BEGIN");
    const [bytes, encoding] = encodeValue(value);
    this.#insert.run(encodeKey(key), bytes, encoding, expiresAtMs);
    if (this.#open === ROWS_A_TRANSACTION) this.#commit();
  }

  #commit(): void {
    if (this.#open > 0) this.#db.exec("COMMIT");
    this.#open = 0;
  }

  close(): void {
    this.#commit();
    this.#db.exec(this.#index);
    this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Rows of a store, open or not, that should be gone by now. */
export function countExpired(path: string, nowMs: number): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const sql = "SELECT count(*) AS rows FROM kv WHERE expiration_ms BETWEEN 0 AND ?";
  try {
    return Number(db.prepare(sql).get(nowMs)!["rows"]);
  } finally {
    db.close();
  }
}

function encodeValue(value: unknown): [Uint8Array, number] {
  if (value instanceof Uint8Array) return [value, BYTES];
  if (!(value instanceof Sum)) return [serializedValue(value), SERIALIZED];
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value.value, true);
  return [bytes, SUM];
}

const KEY = new Uint8Array(2_048);
const keyView = new DataView(KEY.buffer);

/** A key in the order-keeping bytes of Deno KV. */
function encodeKey(key: PlainKey): Uint8Array {
  let at = 0;
  for (const part of key) {
    if (typeof part === "string") {
      KEY[at++] = 2;
      at += encoder.encodeInto(part, KEY.subarray(at)).written;
      KEY[at++] = 0;
      continue;
    }
    if (part instanceof Uint8Array) {
      KEY[at++] = 1;
      for (const byte of part) {
        KEY[at++] = byte;
        if (byte === 0) KEY[at++] = 0xff;
      }
      KEY[at++] = 0;
      continue;
    }
    KEY[at] = 0x21;
    keyView.setFloat64(at + 1, part);
    if (part >= 0) KEY[at + 1]! ^= 0x80;
    else for (let i = 1; i <= 8; i++) KEY[at + i]! ^= 0xff;
    at += 9;
  }
  return KEY.subarray(0, at);
}
