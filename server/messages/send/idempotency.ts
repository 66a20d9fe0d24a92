/** Idempotency-Key on sends by token (decisions, "Messages"): one key, one message, for 24 hours. */
import { defineRecord, type RecordKey } from "../../storage/record_key.ts";
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../../errors.ts";
import type { Turn } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../storage/store.ts";
import type { Receipt, SendExtension } from "./send.ts";

const KEPT_MS = 86_400_000;
const KEY = /^[\x20-\x7e]{1,255}$/;

/** ["idempotency", agentId, SHA-256 of the key as base64url]: what the send under the key was answered. */
export interface IdempotencyRow {
  v: 1;
  attempt: string;
  /** SHA-256 of what was asked, base64url. */
  fingerprint: string;
  id: number;
  contentHash: string;
  createdAtMs: number;
}
const idempotencyKey = defineRecord<IdempotencyRow, [agentId: number, keyHash: string]>(
  ["idempotency"],
  2,
);

/** Ends a send under a key that was used for the same request: its answer stands already. */
class AnsweredBefore extends Error {
  constructor(readonly row: IdempotencyRow) {
    super("answered before");
  }
}

/**
 * The key as it must be.
 * @param where how messages name it: the header or the tool's argument
 * @throws RelayError `invalid_json`
 */
export function requireIdempotencyKey(given: string, where: string): string {
  if (KEY.test(given)) return given;
  throw invalidJson(`${where} must be 1 to 255 printable ASCII characters`);
}

/** What makes two requests under one key the same: SHA-256 of their RFC 8785 JSON, base64url. */
export function fingerprintOf(request: JsonObject): string {
  const asked: JsonObject = {};
  for (const name of ["to", "body", "in_reply_to"]) {
    const value = request[name];
    if (value !== undefined && (value !== null || name === "body")) asked[name] = value;
  }
  asked["content_type"] = request["content_type"] ?? "text";
  return sha256(canonicalJson(asked));
}

export class IdempotencyKeys {
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(
    private readonly store: Pick<Store, "now">,
    private readonly records: RecordCache,
  ) {}

  /**
   * Sends once under a key; a second request waits for the first. Refusals do not use the key up.
   * @param fingerprintOf asked for only where it matters: it costs more than most refusals
   * @param send sends with the extension that stores the answer under the key, made when the
   * request has been found to be in order
   * @returns the row of an earlier answer, or what send() returned
   * @throws RelayError `idempotency_key_reused` when the key was used for another request
   */
  async once<T>(
    agentId: number,
    key: string,
    fingerprintOf: () => string,
    send: (extend: () => SendExtension) => Promise<T>,
  ): Promise<T | IdempotencyRow> {
    const rowKey = idempotencyKey(agentId, sha256(key));
    const name = rowKey.join("/");
    while (this.#inFlight.has(name)) await this.#inFlight.get(name)!.catch(() => {});
    const flight = this.#answer(rowKey, fingerprintOf, send);
    this.#inFlight.set(name, flight);
    try {
      return await flight;
    } finally {
      this.#inFlight.delete(name);
    }
  }

  async #answer<T>(
    rowKey: RecordKey<IdempotencyRow>,
    fingerprintOf: () => string,
    send: (extend: () => SendExtension) => Promise<T>,
  ): Promise<T | IdempotencyRow> {
    const stored = await this.records.read<IdempotencyRow>(rowKey);
    let fingerprint: string | undefined;
    const decide = (row: IdempotencyRow | null, nowMs: number) => {
      // The clock decides, and a row of the future comes from one that has jumped.
      if (row === null || nowMs - row.createdAtMs >= KEPT_MS) return;
      fingerprint ??= fingerprintOf();
      if (row.fingerprint !== fingerprint) throw reused();
      throw new AnsweredBefore(row);
    };
    try {
      decide(stored, this.store.now());
      return await send(() => {
        const asked = fingerprint ??= fingerprintOf();
        return {
          records: [rowKey],
          decide: (turn) => decide(turn.record<IdempotencyRow>(rowKey), turn.nowMs),
          write: (turn, receipt) => {
            const row = rowOf(turn, receipt, asked);
            turn.putRecord(rowKey, row, KEPT_MS + EXPIRY_MARGIN_MS);
          },
        };
      });
    } catch (error) {
      if (error instanceof AnsweredBefore) return error.row;
      throw error;
    }
  }
}

function rowOf(turn: Turn, receipt: Receipt, fingerprint: string): IdempotencyRow {
  const { id, contentHash, createdAtMs } = receipt;
  return { v: 1, attempt: turn.attempt, fingerprint, id, contentHash, createdAtMs };
}

function reused(): RelayError {
  return new RelayError(
    "idempotency_key_reused",
    "this idempotency key was used for another request within the last 24 h; take a new key for a new message, or repeat the first request exactly",
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
