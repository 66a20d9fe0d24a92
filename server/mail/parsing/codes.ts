/** One-time codes in a message, from what its reader sees. Pure; linear in its length. */
import type { FoundCode } from "./parsed_mail.ts";

/** Most codes that are told of a message. */
export const MAX_CODES = 5;

export function findCodes(subject: string | null, visibleText: string): FoundCode[] {
  const codes = new Set<string>();
  const text = `${subject ?? ""}\n${visibleText}`;
  for (const [, code] of text.matchAll(/\b(?:code|otp|pin)\b\D{0,60}?\b([0-9]{4,8})\b/gi)) {
    codes.add(code!);
  }
  return [...codes].slice(0, MAX_CODES).map((value) => ({ value, kind: "numeric" }));
}
