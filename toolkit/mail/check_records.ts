import { includesRange, parseIpRange } from "./ip_range.ts";

/** What DNS says of a record: published as it should be, not there, otherwise, or not to be had. */
export type FindingState = "fine" | "missing" | "differs" | "unknown";

export interface Finding {
  readonly state: FindingState;
  /** Why it is not fine, or what to know where it is; null for nothing to say. */
  readonly why: string | null;
}

export const FINE: Finding = { state: "fine", why: null };

export function missing(why: string): Finding {
  return { state: "missing", why };
}

export function differs(why: string): Finding {
  return { state: "differs", why };
}

/**
 * Compares the hosts that take a domain's mail (RFC 5321, section 5.1) with those that should.
 *
 * @param wanted names in small letters
 * @param published what the MX records name
 */
export function checkMx(wanted: readonly string[], published: readonly string[]): Finding {
  const names = published.map((name) => name.toLowerCase());
  if (names.length === 0) return missing("the domain has no MX record");
  if (names.includes("")) {
    return differs("the record says that the domain takes no mail (RFC 7505)");
  }
  const absent = wanted.filter((host) => !names.includes(host));
  if (absent.length > 0) return differs(`${absent.join(", ")} is not among the hosts`);
  const further = names.filter((host) => !wanted.includes(host));
  if (further.length === 0) return FINE;
  return differs(`${further.join(", ")} gets mail too, which the relay would not see`);
}

/**
 * Checks that an SPF record lets those send who should, and nobody else (RFC 7208).
 *
 * @param wanted mechanisms, such as `include:spf.example.net` or `ip4:192.0.2.1`
 * @param texts the TXT records of the domain
 */
export function checkSpf(wanted: readonly string[], texts: readonly string[]): Finding {
  const records = spfRecords(texts);
  if (records.length === 0) return missing("no TXT record of the domain begins with v=spf1");
  if (records.length > 1) {
    return differs(`${records.length} records begin with v=spf1: receivers then take none`);
  }
  const terms = records[0]!.toLowerCase().split(" ").slice(1).filter((term) => term !== "");
  const end = terms.findIndex((term) => /^[-~?+]?all$/.test(term));
  const before = end < 0 ? terms : terms.slice(0, end);
  const absent = wanted.filter((one) => !before.some((term) => passes(term, one)));
  if (absent.length > 0) {
    const others = before.some((term) => term.startsWith("redirect="))
      ? ", and what redirect= leads to is not looked at"
      : "";
    return differs(`${absent.join(" ")} is not in the record${others}`);
  }
  switch (end < 0 ? "" : terms[end]![0]) {
    case "-":
    case "~":
      return FINE;
    case "":
    case "?":
      return differs("the record says nothing of other senders: end it with ~all");
    default:
      return differs("the record lets everybody send in the domain's name: end it with ~all");
  }
}

/** The SPF records among a domain's TXT records (RFC 7208, section 4.5). */
function spfRecords(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** Whether a term of a record lets those send that a mechanism names. */
function passes(term: string, wanted: string): boolean {
  const own = term.replace(/^\+/, "");
  if (own === wanted) return true;
  const [outer, inner] = [own, wanted].map((one) => {
    const match = /^ip[46]:(.*)$/.exec(one);
    return match === null ? null : parseIpRange(match[1]!);
  });
  return outer != null && inner != null && includesRange(outer, inner);
}

/**
 * Looks whether a published key verifies what a private key signs (RFC 6376, section 3.6.1).
 *
 * @param wanted the record that belongs to the private key
 * @param texts the TXT records at its name
 */
export function checkDkim(wanted: string, texts: readonly string[]): Finding {
  if (texts.length === 0) return missing("no key is published under this selector");
  if (texts.length > 1) {
    return differs(`${texts.length} TXT records stand there: receivers take any, or none`);
  }
  const tags = parseRecordTags(texts[0]!);
  const key = tags?.get("p");
  if (tags === null || key === undefined) return differs("what stands there is no DKIM record");
  if (key === "") return differs("the key is revoked: p= is empty");
  if (bare(key) !== parseRecordTags(wanted)!.get("p")) {
    return differs("another key is published, so that no signature verifies");
  }
  const refused = OTHERS.find(({ tag, takes }) => !takes(tags.get(tag)));
  if (refused !== undefined) {
    return differs(`${refused.tag}=${tags.get(refused.tag)} keeps signatures from counting`);
  }
  return listOf(tags.get("t")).includes("y")
    ? {
      ...FINE,
      why: "t=y says that the key is being tried out: receivers may take no account of it",
    }
    : FINE;
}

const OTHERS: readonly { tag: string; takes: (value: string | undefined) => boolean }[] = [
  { tag: "v", takes: (value) => value === undefined || value === "DKIM1" },
  { tag: "k", takes: (value) => value === undefined || value === "rsa" },
  { tag: "h", takes: (value) => value === undefined || listOf(value).includes("sha256") },
  {
    tag: "s",
    takes: (value) =>
      value === undefined || listOf(value).some((one) => /^(?:\*|email)$/.test(one)),
  },
];

function listOf(value: string | undefined): string[] {
  return (value ?? "").split(":").map((one) => one.trim());
}

/** White space may stand in it. */
function bare(base64: string): string {
  return base64.replaceAll(/[ \t\r\n]/g, "");
}

/** What receivers should do with mail that fails, the mildest first. */
export const DMARC_POLICIES = ["none", "quarantine", "reject"] as const;

export type DmarcPolicy = typeof DMARC_POLICIES[number];

export interface WantedDmarc {
  /** The mildest that is right; any where it is absent. */
  readonly policy?: DmarcPolicy;
  /** Where reports should go. */
  readonly reportTo?: string;
}

/**
 * Compares a DMARC record with what is wanted (RFC 7489, section 6.3).
 *
 * @param texts the TXT records at `_dmarc` of the domain
 */
export function checkDmarc({ policy, reportTo }: WantedDmarc, texts: readonly string[]): Finding {
  const records = texts.filter(isDmarc);
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
  return texts.some(isDmarc)
    ? FINE
    : missing("without it receivers send no reports to another domain");
}

function isDmarc(text: string): boolean {
  return /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text);
}

/**
 * The tags of a DKIM or DMARC record (RFC 6376, section 3.2).
 *
 * @param text such as `v=DKIM1; k=rsa; p=...`
 * @returns names in small letters, with their values as they stand; null where a name is there twice, or
 * what stands between semicolons is no `name=value`
 */
function parseRecordTags(text: string): ReadonlyMap<string, string> | null {
  const tags = new Map<string, string>();
  const parts = text.split(";").map((part) => part.trim());
  if (parts.at(-1) === "") parts.pop();
  for (const part of parts) {
    const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)[ \t]*=[ \t]*([^]*)$/.exec(part) ?? [];
    if (name === undefined || tags.has(name.toLowerCase())) return null;
    tags.set(name.toLowerCase(), value!);
  }
  return tags;
}
