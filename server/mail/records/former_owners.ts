/**
 * Who owned an org in the last 7 days, and what becomes of their ways back (docs/mail.md). The
 * oldest of them comes first: nothing that a later owner does ends their way. Pure.
 */
import type { OrgRecord, Restore } from "./org_record.ts";

/** Beyond this many changes of owner in a week, mails offer no way back; earlier changes keep theirs. */
const MOST_RESTORES = 10;

type Restores = Pick<OrgRecord, "restores" | "verifiedEmail">;
type Owner = Pick<OrgRecord, "verifiedEmail" | "google">;

/** What somebody has proved: to read an address, or to be an identity of Google's. */
export type Proof = { email: string } | { sub: string };

/**
 * The changes of owner that can be undone, the oldest first. Nobody takes an org back from an
 * earlier owner: former versions, which saw an owner's return as a claim like any other, let it be undone.
 */
export function livingRestores(
  { restores = [], verifiedEmail }: Restores,
  nowMs: number,
): readonly Restore[] {
  const living = restores.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
  const own = living.findIndex(({ former }) => former.email === verifiedEmail);
  if (own < 0) return living;
  return living.filter(({ former }, i) => i <= own || former.email === verifiedEmail);
}

/**
 * The change that is undone when a former owner proves again who they are: the earliest that took the
 * org from them, or that they were mailed about, so that nothing of a stranger stays. An identity counts only
 * where the oldest owner had it: a thief may have attached it to a later one, who was not asked.
 * @returns null for its present owner, and for anybody who did not own it in the last 7 days
 */
export function changeToUndo(
  org: Restores & Owner,
  proof: Proof,
  nowMs: number,
): Restore | null {
  const isOwn = "email" in proof
    ? org.verifiedEmail === proof.email
    : org.google?.sub === proof.sub;
  if (isOwn) return null;
  const living = livingRestores(org, nowMs);
  if ("email" in proof) return living.find(({ former }) => former.email === proof.email) ?? null;
  return living[0]?.former.google?.sub === proof.sub ? living[0] : null;
}

/** What is left when a change is undone: the ways back of those who owned the org before it. */
export function restoresBefore(org: Restores, undone: Restore, nowMs: number): readonly Restore[] {
  const living = livingRestores(org, nowMs);
  return living.slice(0, living.findIndex(({ linkId }) => linkId === undone.linkId));
}

/** The ways back with one more; null where there are as many as an org may have. */
export function withRestore(
  org: Restores,
  made: Restore,
  nowMs: number,
): readonly Restore[] | null {
  const living = livingRestores(org, nowMs);
  return living.length < MOST_RESTORES ? [...living, made] : null;
}

/**
 * What is left when the owner shuts everybody else out: their own ways back, and the oldest
 * owner's. A thief may be the one who shuts out; that one must not end the way back of the robbed.
 */
export function restoresOfOwner(org: Restores & Owner, nowMs: number): readonly Restore[] {
  return livingRestores(org, nowMs)
    .filter(({ former }, i) => i === 0 || former.email === org.verifiedEmail);
}

/** The owner a change takes an org from: their address, or their identity's where it stays; null for none. */
export function displacedBy(before: Owner, after: Owner): string | null {
  if (before.verifiedEmail !== after.verifiedEmail) return before.verifiedEmail;
  return before.google?.sub === after.google?.sub ? null : before.google?.email ?? null;
}
