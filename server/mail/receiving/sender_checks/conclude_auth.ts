/**
 * What the findings on a mail amount to: RFC 7489 for the policy and its alignment, the relay's own
 * rule for the verdict (docs/mail.md). Pure; part of the worker.
 */
import type { AuthResult, AuthVerdict } from "../../records/message_record.ts";
import { dmarcPassIn } from "./arc_chain.ts";
import type { ArcFinding } from "./check_arc.ts";
import type { SenderCheck } from "./auth_messages.ts";

export interface SignatureFinding {
  result: "pass" | "fail" | "temperror" | "permerror";
  /** Its `d=`. */
  domain: string;
  /** Its `h=`, lowercased. */
  signedNames: readonly string[];
}

export interface Findings {
  /** Domain of the one From; null where there is none, or several. */
  fromDomain: string | null;
  spf: AuthResult;
  /** Domain that SPF was checked for; null where it was not. */
  spfDomain: string | null;
  /** In any order; one for each that was found. */
  signatures: readonly SignatureFinding[];
  arc: ArcFinding;
  /** Domains, lowercased, whose seals count. */
  trustedSealers: readonly string[];
  /** Domains of all addresses in Reply-To, lowercased; not needed where no signature passes. */
  replyToDomains: readonly string[];
  /** What the domain of From publishes. */
  policy: "none" | "temperror" | { strictSpf: boolean; strictDkim: boolean };
  /** Whether two domains are of one organization (RFC 7489, 3.2). */
  ofOneOrganization: (domain: string, other: string) => boolean;
}

/** Best first: one signature that passes is enough. */
const DKIM_ORDER = ["pass", "fail", "temperror", "permerror"] as const;

export function concludeAuth(findings: Findings): SenderCheck {
  const { fromDomain, spf, signatures } = findings;
  const dkim = DKIM_ORDER.find((result) => signatures.some((one) => one.result === result)) ??
    "none";
  const dmarc = dmarcOf(findings);
  const own = verdictOf(findings, dkim, dmarc);
  const verdict = own !== "pass" && isVouchedFor(findings) ? "pass" : own;
  const { result: arc } = findings.arc;
  return {
    auth: { spf, dkim, dmarc, ...(arc === "none" ? {} : { arc }), fromDomain, verdict },
    isReplyToUnsigned: verdict === "pass" && isReplyToUnsigned(findings),
  };
}

/**
 * Whether sealers who are trusted say that the mail passed DMARC when the first of them got it. All of
 * them have to be trusted: any of them could have written what those before it are said to have seen.
 * Nothing that fails by itself, such as several From, is mended.
 */
function isVouchedFor({ arc, fromDomain, trustedSealers }: Findings): boolean {
  return fromDomain !== null && arc.result === "pass" &&
    arc.sets.every(({ sealer, signer }) =>
      trustedSealers.includes(sealer) && trustedSealers.includes(signer)
    ) &&
    dmarcPassIn(arc.sets[0]!.results) === fromDomain;
}

/**
 * Only of a mail that passes. A signature of somebody else's who adds the field says nothing: those
 * count that stand for From.
 */
function isReplyToUnsigned(findings: Findings): boolean {
  const { fromDomain, replyToDomains, signatures, policy, ofOneOrganization } = findings;
  const strict = typeof policy === "string" ? RELAXED : policy;
  if (isVouchedFor(findings) && findings.arc.sets.at(-1)!.signedNames.includes("reply-to")) {
    return false;
  }
  const covering = signatures.filter(({ signedNames }) => signedNames.includes("reply-to"));
  return !isAligned({ ...findings, signatures: covering }, "pass", strict) &&
    replyToDomains.some((domain) => !ofOneOrganization(domain, fromDomain!));
}

const RELAXED = { strictSpf: false, strictDkim: false };

function dmarcOf(findings: Findings): AuthResult {
  const { fromDomain, policy } = findings;
  if (fromDomain === null) return "permerror";
  if (typeof policy === "string") return policy;
  if (isAligned(findings, "pass", policy)) return "pass";
  // What could have passed at another time is no failure (RFC 7489, 6.6.3 leaves it open).
  return isAligned(findings, "temperror", policy) ? "temperror" : "fail";
}

function verdictOf(findings: Findings, dkim: AuthResult, dmarc: AuthResult): AuthVerdict {
  switch (dmarc) {
    case "pass":
      return "pass";
    case "fail":
    case "permerror":
      return "fail";
    case "temperror":
      return "error";
    default:
      if (isAligned(findings, "pass", RELAXED)) return "pass";
      return findings.spf === "temperror" || dkim === "temperror" ? "error" : "none";
  }
}

/** Whether SPF or a signature has this result for a domain that stands for the one of From. */
function isAligned(
  { fromDomain, spf, spfDomain, signatures, ofOneOrganization }: Findings,
  wanted: "pass" | "temperror",
  { strictSpf, strictDkim }: { strictSpf: boolean; strictDkim: boolean },
): boolean {
  if (fromDomain === null) return false;
  const fits = (domain: string, isStrict: boolean) =>
    domain.toLowerCase() === fromDomain || (!isStrict && ofOneOrganization(domain, fromDomain));
  return (spf === wanted && spfDomain !== null && fits(spfDomain, strictSpf)) ||
    signatures.some(({ result, domain }) => result === wanted && fits(domain, strictDkim));
}
