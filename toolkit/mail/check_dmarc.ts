import { differs, type Finding, FINE, missing } from "./finding.ts";
import { parseRecordTags } from "./record_tags.ts";

/** What receivers shall do with mail that fails, from the mildest. */
export const DMARC_POLICIES = ["none", "quarantine", "reject"] as const;

export type DmarcPolicy = typeof DMARC_POLICIES[number];

export interface WantedDmarc {
  /** The mildest that is right; any where it is absent. */
  readonly policy?: DmarcPolicy;
  /** Where reports shall go. */
  readonly reportTo?: string;
}

/**
 * Compares a DMARC record with what is wanted (RFC 7489, section 6.3).
 *
 * @param texts the TXT records at `_dmarc` of the domain
 */
export function checkDmarc({ policy, reportTo }: WantedDmarc, texts: readonly string[]): Finding {
  const records = texts.filter((text) => /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text));
  if (records.length === 0) return missing("no TXT record there begins with v=DMARC1");
  if (records.length > 1) {
    return differs(`${records.length} records begin with v=DMARC1: receivers then take none`);
  }
  const tags = parseRecordTags(records[0]!);
  if (tags === null) return differs("the record cannot be read");
  const published = tags.get("p")?.toLowerCase();
  const rank = DMARC_POLICIES.findIndex((one) => one === published);
  if (rank < 0) return differs("the record has no policy: p= none, quarantine or reject");
  if (policy !== undefined && rank < DMARC_POLICIES.indexOf(policy)) {
    return differs(`its policy is ${published}, which is milder than ${policy}`);
  }
  const targets = (tags.get("rua") ?? "").split(",").map((uri) =>
    uri.trim().replace(/![0-9]+[kmgt]?$/i, "").toLowerCase()
  );
  if (reportTo !== undefined && !targets.includes(`mailto:${reportTo.toLowerCase()}`)) {
    return differs(`reports do not go to ${reportTo}`);
  }
  return FINE;
}

/**
 * Looks whether the domain of a report address takes reports on another domain (RFC 7489, section 7.1).
 *
 * @param texts the TXT records at the name that stands for both
 */
export function checkReportsTaken(texts: readonly string[]): Finding {
  return texts.some((text) => /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text))
    ? FINE
    : missing("without it receivers send no reports to another domain");
}
