/** The rows of one message, put into the commit that makes it. */
import type { Transaction } from "../../../base/storage/commits/group_commit.ts";
import {
  cutIntoPieces,
  encodeMessage,
  type Envelope,
  inboxKey,
  outboxKey,
  type OutboxRow,
  pieceKey,
  rawKey,
  type RequestForm,
} from "../rows/message_row.ts";
import { encodeRow } from "../rows/row_codec.ts";

export interface NewMessage {
  id: number;
  createdAtMs: number;
  envelope: Envelope;
  /** How the signed request is rebuilt; null where its raw bytes are kept. */
  form: RequestForm | null;
  rawPieces: readonly Uint8Array[];
  expireInMs: number;
}

/** @returns the bytes of the row that stands in the inbox */
export function stageMessage(
  transaction: Transaction,
  { id, createdAtMs, envelope, form, rawPieces, expireInMs }: NewMessage,
): Uint8Array {
  const { sender, recipientId, request } = envelope;
  const encoded = encodeMessage(envelope, id, createdAtMs);
  const pieces = cutIntoPieces(encoded.json);
  const bytes = encodeRow({
    senderId: sender.id,
    createdAtMs,
    contentHash: request.contentHash,
    bodyAt: encoded.bodyAt,
    bodySizeBytes: request.bodySizeBytes,
    request: form ?? { rawPieces: rawPieces.length },
    json: pieces[0]!,
    pieces: pieces.length - 1,
  });
  transaction.set(inboxKey(recipientId, id), bytes, expireInMs);
  for (let i = 1; i < pieces.length; i++) transaction.set(pieceKey(id, i), pieces[i], expireInMs);
  for (const [i, piece] of rawPieces.entries()) transaction.set(rawKey(id, i), piece, expireInMs);
  const sent: OutboxRow = { v: 1, recipientId, deliveredAtMs: null, createdAtMs };
  transaction.set(outboxKey(sender.id, id), sent, expireInMs);
  return bytes;
}
