import { createHash } from "node:crypto";

/** Bytes that are hashed sooner than another thread is asked to. */
const SMALL_BYTES = 64 * 1024;

/** SHA-256: of little at once on this thread, of more on another one. */
export async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length <= SMALL_BYTES) return createHash("sha256").update(bytes).digest();
  return new Uint8Array(
    await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>),
  );
}
