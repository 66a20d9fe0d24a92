/** Bearer tokens as an area keeps them: 32 random bytes behind a readable prefix, stored as SHA-256. */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";

export interface HashedToken {
  /** Shown to its holder once. */
  token: string;
  /** What the store keeps: SHA-256 of the token, base64url. */
  hash: string;
}

/** @param prefix tells people and scanners for secrets what they see, as in "rt_owner_" */
export function makeHashedToken(
  prefix: string,
  random: (sizeBytes: number) => Uint8Array,
): HashedToken {
  const token = prefix + Buffer.from(random(32)).toString("base64url");
  return { token, hash: hashToken(token) };
}

/** SHA-256 of a token, base64url. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
