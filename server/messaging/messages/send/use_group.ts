/**
 * The row where the sends of one commit keep the answers to their signatures, on an exclusive
 * store: one row a group and ten signed seconds, instead of one a send.
 */
import { Buffer } from "node:buffer";
import { signatureHalf, type SignatureUse } from "../../agents/signature_use.ts";
import type { Attempt } from "../../../base/storage/commits/group_commit.ts";
import type { SendUseRow } from "./send_answer.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

/** Signatures of so many signed seconds stand together, in the store and in memory. */
export const BUCKET_SECONDS = 10;

/** One send of a group. */
export interface GroupedUse extends Pick<SignatureUse, "signature" | "timestampSeconds"> {
  agentId: number;
  id: number;
  contentHash: string;
}

const FORMAT = 1;
const HALF_AT = 1;
const HALF_BYTES = 32;
const SECOND_AT = HALF_AT + HALF_BYTES;
const AGENT_AT = SECOND_AT + 8;
const ID_AT = AGENT_AT + 8;
const HASH_AT = ID_AT + 8;
const ENTRY_BYTES = HASH_AT + 32;

export function bucketOf(timestampSeconds: number): number {
  return Math.floor(timestampSeconds / BUCKET_SECONDS);
}

export const sigGroupKey = defineRow<[firstOfTen: number, committedAtMs: number, attempt: string]>(
  ["sig", "group"],
  3,
  {
    holds: "the same for all sends of one commit on an exclusive store, by the first of ten " +
      "signed seconds: 89 bytes each",
    expires: "swept at the last of the ten + 361 s + 2 h",
  },
);

/** For each send: format, half of the signature, signed second, agent, message id, content hash. */
export function useGroupKey(
  timestampSeconds: number,
  { attempt, nowMs }: Pick<Attempt, "attempt" | "nowMs">,
): Deno.KvKey {
  return sigGroupKey(bucketOf(timestampSeconds) * BUCKET_SECONDS, nowMs, attempt);
}

/** What the keys of all groups of ten signed seconds begin with. */
export function useGroupsKey(bucket: number): Deno.KvKey {
  return sigGroupKey.under(bucket * BUCKET_SECONDS);
}

export function encodeUse(use: GroupedUse): Uint8Array {
  const bytes = Buffer.allocUnsafe(ENTRY_BYTES); // every byte of it is written
  bytes[0] = FORMAT;
  bytes.set(signatureHalf(use.signature), HALF_AT);
  bytes.writeDoubleBE(use.timestampSeconds, SECOND_AT);
  bytes.writeDoubleBE(use.agentId, AGENT_AT);
  bytes.writeDoubleBE(use.id, ID_AT);
  bytes.write(use.contentHash, HASH_AT, "hex");
  return bytes;
}

/** What the sends of a group signed: half of each signature, a view. */
export function* halvesOf(row: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < row.length; at += ENTRY_BYTES) {
    yield row.subarray(at + HALF_AT, at + SECOND_AT);
  }
}

/** The answer to an agent's send with this signature, or null where the group has none such. */
export function findGroupedUse(
  key: Deno.KvKey,
  row: Uint8Array,
  agentId: number,
  { signature, timestampSeconds }: Pick<SignatureUse, "signature" | "timestampSeconds">,
): SendUseRow | null {
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  const half = Buffer.from(signatureHalf(signature));
  for (let at = 0; at < row.length; at += ENTRY_BYTES) {
    if (!half.equals(row.subarray(at + HALF_AT, at + SECOND_AT))) continue;
    if (view.getFloat64(at + SECOND_AT) !== timestampSeconds) continue;
    if (view.getFloat64(at + AGENT_AT) !== agentId) continue;
    return {
      v: 1,
      attempt: key[4] as string,
      use: "send",
      id: view.getFloat64(at + ID_AT),
      contentHash: Buffer.from(row.subarray(at + HASH_AT, at + ENTRY_BYTES)).toString("hex"),
      createdAtMs: key[3] as number,
    };
  }
  return null;
}
