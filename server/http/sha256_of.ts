import { createHash } from "node:crypto";
import { hashInTurns } from "./hash_in_turns.ts";

/** SHA-256: of little at once, of more in turns of the event loop. */
export async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return (await hashInTurns(createHash("sha256"), bytes)).digest();
}
