import { createHash } from "node:crypto";
import { hashInSlices } from "./hash_in_slices.ts";

/** SHA-256: of little at once, of more in slices. */
export async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return (await hashInSlices(createHash("sha256"), bytes)).digest();
}
