/** The operator's own credential: the admin token. */
import { createHash, timingSafeEqual } from "node:crypto";
import { RelayError } from "../../errors.ts";
import { bearerToken } from "./credentials.ts";

/**
 * Compares hashes, so that the time taken tells nothing of the token.
 * @param adminToken RELAY_ADMIN_TOKEN; unset, every request is refused
 * @throws RelayError `unknown_token`
 */
export function requireAdmin(headers: Headers, adminToken: string | undefined): void {
  if (isAdminToken(bearerToken(headers) ?? "", adminToken)) return;
  throw new RelayError(
    "unknown_token",
    "admin endpoints take Authorization: Bearer with the relay's admin token (RELAY_ADMIN_TOKEN); without one configured they are closed",
  );
}

/** Compares hashes, so that the time taken tells nothing of the token; true of none where none is configured. */
export function isAdminToken(given: string, adminToken: string | undefined): boolean {
  return timingSafeEqual(sha256(given), sha256(adminToken ?? "")) && Boolean(adminToken);
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
