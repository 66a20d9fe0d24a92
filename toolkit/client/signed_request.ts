import type { Connection } from "./connection.ts";
import { ask } from "./exchange.ts";
import { type Signer, signing } from "./signing.ts";

/**
 * The raw signed request of a message that the signer sent or received:
 * GET /v1/messages/{id}/signed-request.
 *
 * @returns exactly the bytes whose SHA-256 stands in the message's canonical_string
 * @throws {RefusalError} `not_found`
 */
export async function readSignedRequest(
  connection: Connection,
  signer: Signer,
  id: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const call = { method: "GET", path: `/v1/messages/${id}/signed-request`, signal };
  return (await ask(connection, { ...call, headers: signing(connection, signer, "read", call) }))
    .bytes;
}
