import {
  checkDkim,
  checkDmarc,
  checkMx,
  checkReportsTaken,
  checkSpf,
  type Finding,
  FINE,
  missing,
  type WantedDmarc,
} from "./check_records.ts";
import { dkimRecordName } from "./dkim_record.ts";
import type { DnsAnswer, DnsErrorCode, DnsRecord, RecordType } from "./dns_message.ts";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/** What the operator says of a mail domain. */
export interface MailDomain {
  /** In small letters, as all names here. */
  readonly domain: string;
  /** Hosts that take its mail; at least one. */
  readonly receives: readonly string[];
  /** SPF mechanisms of those that send its mail; at least one. */
  readonly sends: readonly string[];
  /** The key that the relay signs with, as its record; null where somebody else signs, or mail is not signed. */
  readonly dkim: { readonly selector: string; readonly text: string } | null;
  readonly dmarc: WantedDmarc;
}

export interface PlannedRecord {
  readonly record: "mx" | "address" | "spf" | "dkim" | "dmarc" | "dmarc_reports";
  readonly name: string;
  readonly types: readonly RecordType[];
  /**
   * One record each, as web forms and zone files take them; a zone file cuts a text into pieces.
   * None of an address, which is its operator's.
   */
  readonly values: readonly string[];
  /** @param published what DNS gives at that name, as text */
  check(published: readonly string[]): Finding;
  /** Whether the check is about this one of the texts at that name. */
  concerns(text: string): boolean;
}

const MX_PRIORITY = 10;
const NO_ADDRESS = "the host has no address, so that no mail reaches it";
const all = () => true;
const beginsWith = (version: string) => (text: string) =>
  text.toLowerCase().startsWith(`v=${version}`);

/** All records of a domain, in the order of use. */
export function domainRecords(plan: MailDomain): PlannedRecord[] {
  const { domain, receives, sends, dkim, dmarc } = plan;
  const { policy = "none", reportTo } = dmarc;
  const rua = reportTo === undefined ? "" : `; rua=mailto:${reportTo}`;
  return [
    {
      record: "mx",
      name: domain,
      types: ["MX"],
      values: receives.map((host) => `${MX_PRIORITY} ${host}`),
      check: (published) => checkMx(receives, published.map((text) => text.split(" ")[1] ?? "")),
      concerns: all,
    },
    ...receives.map((name): PlannedRecord => ({
      record: "address",
      name,
      types: ["A", "AAAA"],
      values: [],
      check: (published) => published.length > 0 ? FINE : missing(NO_ADDRESS),
      concerns: all,
    })),
    {
      record: "spf",
      name: domain,
      types: ["TXT"],
      values: [`v=spf1 ${sends.join(" ")} ~all`],
      check: (published) => checkSpf(sends, published),
      concerns: beginsWith("spf1"),
    },
    ...(dkim === null ? [] : [
      {
        record: "dkim",
        name: dkimRecordName({ domain, selector: dkim.selector }),
        types: ["TXT"],
        values: [dkim.text],
        check: (published) => checkDkim(dkim.text, published),
        concerns: all,
      } satisfies PlannedRecord,
    ]),
    {
      record: "dmarc",
      name: `_dmarc.${domain}`,
      types: ["TXT"],
      values: [`v=DMARC1; p=${policy}${rua}`],
      check: (published) => checkDmarc(dmarc, published),
      concerns: beginsWith("dmarc1"),
    },
    ...reportsRecord(domain, reportTo),
  ];
}

/** Senders of reports to another domain ask it first; domains below each other count as one. */
function reportsRecord(domain: string, reportTo: string | undefined): PlannedRecord[] {
  const host = reportTo?.slice(reportTo.lastIndexOf("@") + 1).toLowerCase();
  if (host === undefined || isWithin(host, domain) || isWithin(domain, host)) return [];
  return [{
    record: "dmarc_reports",
    name: `${domain}._report._dmarc.${host}`,
    types: ["TXT"],
    values: ["v=DMARC1"],
    check: checkReportsTaken,
    concerns: beginsWith("dmarc1"),
  }];
}

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** What DNS says of a record. */
export interface CheckedRecord extends Finding {
  /** The texts published now that concern the record. */
  readonly published: readonly string[];
}

/** Holds what DNS answers, for each of its types, against a planned record. */
export function checkRecord(planned: PlannedRecord, answers: readonly DnsAnswer[]): CheckedRecord {
  const texts = answers.flatMap((answer) => "code" in answer ? [] : answer.records.map(asText));
  const codes = answers.flatMap((answer) => "code" in answer ? [answer.code] : []);
  const unknown = codes.find((code) => !ABSENT.has(code));
  if (unknown !== undefined && texts.length === 0) {
    return { state: "unknown", why: WORDS[unknown] ?? "DNS does not tell", published: [] };
  }
  return { ...planned.check(texts), published: texts.filter(planned.concerns) };
}

const ABSENT: ReadonlySet<DnsErrorCode> = new Set(["ENOTFOUND", "ENODATA"]);
const WORDS: Partial<Record<DnsErrorCode, string>> = {
  ESERVFAIL: "the DNS server failed to find out, or did not answer",
  EREFUSED: "the DNS server refuses the question",
  ETIMEOUT: "the DNS server did not answer in time",
};

function asText(record: DnsRecord): string {
  if (typeof record === "string") return record;
  if (Array.isArray(record)) return record.join("");
  return `${record.priority} ${record.exchange}`;
}

/**
 * A domain as it is compared: in small letters, without the dot at its end.
 *
 * @param text names of other alphabets as A-labels (xn--)
 * @param minLabels how many labels it has at least
 * @returns null for what is no name of hosts, and for an IPv4 address
 */
export function parseDomainName(text: string, minLabels = 2): string | null {
  const name = text.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  const isName = name.length <= 253 && NAME.test(name) && labels.length >= minLabels;
  return isName && !/^[0-9]+$/.test(labels.at(-1)!) ? name : null;
}
