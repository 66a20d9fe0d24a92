import {
  type CheckedRecord,
  checkRecord,
  domainRecords,
  type MailDomain,
  type PlannedRecord,
} from "../mail/domain_records.ts";
import { type Finding, type FindingState, FINE, missing } from "../mail/finding.ts";
import type { DnsServer } from "../node/dns_exchange.ts";
import { askDns, chooseDnsServers } from "./ask_dns.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { MAIL_DOMAIN_OPTIONS, readMailDomain } from "./mail_domain_options.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import type { Verb } from "./verb.ts";

const help = `Print the DNS records of a relay's mail domain, and check what is published.

Usage: relay mail dns [DOMAIN] --receives HOST --sends WHO [options]

For operators; DOMAIN is RELAY_MAIL_DOMAIN where it is not given. Each record is fine, missing or
differs, with why; "unknown" is what the DNS server does not tell. No relay is asked.

Options:
  --receives HOST   the mail server or provider that takes the domain's mail; several for several
  --sends WHO       who sends its mail, as SPF has it: include:DOMAIN of a provider, an IP address
                    or network, mx for the hosts that receive, a:HOST; several for several
  --dkim-key F      a file with the key that the relay signs with; else RELAY_MAIL_DKIM_KEY. The key
                    itself is never shown
  --selector S      the name that it is published under; else RELAY_MAIL_DKIM_SELECTOR
  --dmarc POLICY    none, quarantine or reject: what is to happen with mail that fails. Without it
                    any policy that is published is fine, and p=none is printed
  --report-to A     the e-mail address that DMARC reports go to
  --server IP       a DNS server, IP:PORT for another port than 53; else RELAY_DNS_SERVERS, else the
                    system's. Asked over TCP
  --no-check        print the records, and ask nobody
  --json            print {"record", "name", "type", "values", "state", "why", "published"}, one a
                    line; the address of a host that receives has no values

Exit status: 0 when all is fine, 1 when something is missing or different, 2 for wrong usage, 5 when
a DNS server does not tell and the rest is fine.

Example:
  relay mail dns agents.example.org --receives mx.example.org --sends include:spf.example.net \\
    --dkim-key dkim.pem --selector relay1 --report-to dmarc@example.org
`;

const OPTIONS = {
  ...MAIL_DOMAIN_OPTIONS,
  server: { type: "string", multiple: true },
  "no-check": { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** Of what DNS gives, which strangers may have written. */
const MAX_SHOWN_CHARACTERS = 1_000;
const MAX_SHOWN_RECORDS = 10;
const TITLES: Readonly<Record<RecordName, string>> = {
  mx: "MX",
  address: "Address",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  dmarc_reports: "DMARC reports",
};

type RecordName = PlannedRecord["record"] | "address";

/** What is printed of a record. */
interface ShownRecord {
  record: RecordName;
  name: string;
  type: string;
  values: readonly string[];
  state: FindingState | null;
  why: string | null;
  published: readonly string[] | null;
}

/** `relay mail dns`. */
export const mailDns: Verb = {
  name: "mail dns",
  summary: "print and check the DNS records of a mail domain",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals } = parseOptions(args, OPTIONS, 1);
    const plan = await readMailDomain(host, values, positionals[0]);
    const servers = values["no-check"] ? null : chooseDnsServers(
      host,
      values.server ?? [host.env("RELAY_DNS_SERVERS") ?? ""].filter((text) => text !== ""),
    );
    const shown = await lookAt(host, plan, servers);
    await host.stdout(values.json ? shown.map(jsonLine).join("") : shown.map(inWords).join("\n"));
    if (!values.json && plan.dkim === null) await host.stdout(`\n${WITHOUT_KEY}`);
    return exitCode(shown);
  },
};

const WITHOUT_KEY =
  "DKIM: not looked at, for there is no --dkim-key. Mail that nobody signs lands " +
  "among spam;\na provider that signs under this domain tells its own records\n";

/** @param servers null to ask nobody */
async function lookAt(
  host: Host,
  plan: MailDomain,
  servers: readonly DnsServer[] | null,
): Promise<ShownRecord[]> {
  const [mx, ...others] = await Promise.all(
    domainRecords(plan).map(async (planned) => {
      const { record, name, type, values } = planned;
      const found = servers === null
        ? { state: null, why: null, published: null }
        : boundedAnswer(checkRecord(planned, await askDns(host, servers, name, type)));
      return { record, name, type, values, ...found };
    }),
  );
  if (servers === null) return [mx!, ...others];
  const addresses = plan.receives.map((name) => findAddress(host, servers, name));
  return [mx!, ...await Promise.all(addresses), ...others];
}

/** Whether a host that takes mail can be found. */
async function findAddress(
  host: Host,
  servers: readonly DnsServer[],
  name: string,
): Promise<ShownRecord> {
  const answers = await Promise.all([
    askDns(host, servers, name, "A"),
    askDns(host, servers, name, "AAAA"),
  ]);
  const published = answers.flatMap((answer) => "code" in answer ? [] : answer.records.map(String));
  const isUnknown = answers.some((answer) =>
    "code" in answer && !/^E(?:NOTFOUND|NODATA)$/.test(answer.code)
  );
  const finding: Finding = published.length > 0
    ? FINE
    : isUnknown
    ? { state: "unknown", why: "the DNS server did not tell" }
    : missing("the host has no address, so that no mail reaches it");
  const shown = published.slice(0, MAX_SHOWN_RECORDS);
  return { record: "address", name, type: "A, AAAA", values: [], ...finding, published: shown };
}

function boundedAnswer({ published, ...finding }: CheckedRecord): CheckedRecord {
  const shown = published.slice(0, MAX_SHOWN_RECORDS).map((text) =>
    text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text
  );
  return { ...finding, published: shown };
}

function inWords({ record, name, type, values, state, why, published }: ShownRecord): string {
  const verdict = state === null ? "" : `: ${state}${why === null ? "" : `, ${why}`}`;
  const rows = [
    ["name", name],
    ["type", type],
    ...values.map((value) => ["value", value]),
    // What is fine needs no second look.
    ...(state === "differs" ? published! : []).map((text) => ["found", text]),
  ];
  const lines = rows.map(([label, text]) => `  ${label!.padEnd(7)}${printable(text!)}\n`);
  return `${TITLES[record]}${printable(verdict)}\n${lines.join("")}`;
}

function exitCode(shown: readonly ShownRecord[]): ExitCode {
  const has = (state: FindingState) => shown.some((one) => one.state === state);
  if (has("missing") || has("differs")) return ExitCode.false;
  return has("unknown") ? ExitCode.unreachable : ExitCode.passed;
}
