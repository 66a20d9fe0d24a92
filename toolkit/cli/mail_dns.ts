import { askDns, type DnsAsked, type DnsServer } from "../mail/ask_dns.ts";
import { DMARC_POLICIES, type DmarcPolicy, type FindingState } from "../mail/check_records.ts";
import {
  checkRecord,
  domainRecords,
  type MailDomain,
  parseDomainName,
  type PlannedRecord,
} from "../mail/domain_records.ts";
import { parseIpRange } from "../mail/ip_range.ts";
import { dkimRecord, MIN_DKIM_KEY_BITS, readDkimKey } from "../node/dkim_key.ts";
import { chooseDnsServers } from "./choose_dns_servers.ts";
import { ExitCode, InputError, UsageError } from "./failure.ts";
import type { Host } from "./host.ts";
import { isOptional, lookAround, type SurroundingName } from "./mail_surroundings.ts";
import { printable } from "./printable.ts";
import { readWhole } from "./read_input.ts";
import { defineVerb, flag, list, option, type Values } from "./verb.ts";

const MAX_HOSTS = 20;
/** How long one DNS server may take. */
const SERVER_MS = 5_000;
/** How much of an answer of DNS is shown, which strangers may have written. */
const MAX_SHOWN_CHARACTERS = 1_000;
const MAX_SHOWN_RECORDS = 10;
const SMTP_PORT = 25;
const TITLES: Readonly<Record<ShownRecord["record"], string>> = {
  mx: "MX",
  address: "Address",
  spf: "SPF",
  dkim: "DKIM",
  dmarc: "DMARC",
  dmarc_reports: "DMARC reports",
  mta_sts: "MTA-STS",
  mta_sts_policy: "MTA-STS policy",
  tls_reports: "TLS reports",
  reverse: "Reverse name",
  port_25: "Mail server",
  certificate: "Certificate",
};

/** What is printed of a record. */
interface ShownRecord {
  record: PlannedRecord["record"] | SurroundingName;
  name: string;
  type: string;
  values: readonly string[];
  state: FindingState | null;
  why: string | null;
  published: readonly string[] | null;
}

const OPTIONS = {
  receives: list(
    "HOST",
    "the mail server or provider that takes the domain's mail; several for several",
    domainName,
  ),
  sends: list(
    "WHO",
    "who sends its mail, as SPF has it: include:DOMAIN of a provider, an IP address or network, mx " +
      "for the hosts that receive, a:HOST; several for several",
    mechanism,
  ),
  "dkim-key": option(
    "F",
    "a file with the key that the relay signs with; else RELAY_MAIL_DKIM_KEY. The key itself is " +
      "never shown",
  ),
  selector: option("S", "the name that it is published under; else RELAY_MAIL_DKIM_SELECTOR"),
  dmarc: option(
    "POLICY",
    "none, quarantine or reject: what is to happen with mail that fails. Without it any policy " +
      "that is published is fine, and p=none is printed",
    dmarcPolicy,
  ),
  "report-to": option("A", "the e-mail address that DMARC reports go to", reportAddress),
  server: list(
    "IP",
    "a DNS server, IP:PORT for another port than 53, tcp:IP to ask it over TCP alone; else " +
      "RELAY_DNS_SERVERS, else the system's",
  ),
  check: flag(
    "look at what stands around them too: MTA-STS and its policy, TLS reports, the names of the " +
      "hosts' addresses, whether a mail server answers at them, and its certificate",
  ),
  "tls-cert": option(
    "F",
    "with --check, the file of the mail server's certificate; else RELAY_MAIL_TLS_CERT",
  ),
  port: option("N", "with --check, where the mail server listens; 25 unless given", portNumber),
  "no-check": flag("print the records, and ask nobody"),
  json: flag(
    'print {"record", "name", "type", "values", "state", "why", "published"}, one a line; the ' +
      "address of a host that receives has no values",
  ),
};

/** `relay mail dns`. */
export const mailDns = defineVerb({
  name: "mail dns",
  summary: "print and check the DNS records of a mail domain",
  args: "[DOMAIN]",
  usage: "[DOMAIN] --receives HOST --sends WHO [options]",
  about: `
For operators; DOMAIN is RELAY_MAIL_DOMAIN where it is not given. Each record is fine, missing or
differs, with why; "unknown" is what the DNS server does not tell. No relay is asked.`,
  options: OPTIONS,
  exit: `0 when all is fine but for what is optional, 1 when something is missing or different,
2 for wrong usage, 5 when a DNS server does not tell and the rest is fine`,
  example:
    `relay mail dns agents.example.org --receives mx.example.org --sends include:spf.example.net \\
    --dkim-key dkim.pem --selector relay1 --report-to dmarc@example.org`,
  async run({ host, values, args: [domain], print }) {
    const plan = await readMailDomain(host, values, domain);
    const servers = values["no-check"] ? null : chooseDnsServers(
      host,
      values.server ?? [host.env("RELAY_DNS_SERVERS") ?? ""].filter((text) => text !== ""),
    );
    const dns = dnsOf(host, servers ?? []);
    const certificate = values["tls-cert"] ?? host.env("RELAY_MAIL_TLS_CERT");
    const around = { host, plan, dns, certificate, port: values.port ?? SMTP_PORT };
    const shown: ShownRecord[] = [
      ...await lookAt(dns, plan, servers !== null),
      ...(values.check && servers !== null ? (await lookAround(around)).map(bounded) : []),
    ];
    for (const [index, record] of shown.entries()) {
      await print(record, `${index === 0 ? "" : "\n"}${inWords(record, shown)}`);
    }
    if (!values.json && plan.dkim === null) await host.stdout(`\n${WITHOUT_KEY}`);
    return exitCode(shown);
  },
});

const WITHOUT_KEY =
  "DKIM: not looked at, for there is no --dkim-key. Mail that nobody signs lands " +
  "among spam;\na provider that signs under this domain tells its own records\n";

/** How a verb asks DNS. */
export function dnsOf({ askDnsServer }: Host, servers: readonly DnsServer[]): DnsAsked {
  return {
    servers,
    exchange: (server, question) =>
      askDnsServer(server, question, SERVER_MS).catch(() => ({ code: "ETIMEOUT" })),
  };
}

async function lookAt(dns: DnsAsked, plan: MailDomain, asks: boolean): Promise<ShownRecord[]> {
  const records = domainRecords(plan).filter(({ values }) => asks || values.length > 0);
  return await Promise.all(records.map(async (planned) => {
    const { record, name, types, values } = planned;
    const shown = { record, name, type: types.join(", "), values };
    if (!asks) return { ...shown, state: null, why: null, published: null };
    const answers = await Promise.all(types.map((type) => askDns(dns, name, type)));
    return bounded({ ...shown, ...checkRecord(planned, answers) });
  }));
}

function bounded<T extends { published: readonly string[] }>({ published, ...rest }: T): T {
  const shown = published.slice(0, MAX_SHOWN_RECORDS).map((text) =>
    text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text
  );
  return { ...rest, published: shown } as unknown as T;
}

function inWords(one: ShownRecord, all: readonly ShownRecord[]): string {
  const { record, name, type, values, state, why, published } = one;
  const told = state === "missing" && isOptional(one, all) ? "missing, and optional" : state;
  const verdict = state === null ? "" : `: ${told}${why === null ? "" : `, ${why}`}`;
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
  const has = (state: FindingState) =>
    shown.some((one) => one.state === state && !(state === "missing" && isOptional(one, shown)));
  if (has("missing") || has("differs")) return ExitCode.false;
  return has("unknown") ? ExitCode.unreachable : ExitCode.passed;
}

type DomainValues = Values<typeof OPTIONS>;

/**
 * What an operator says of a mail domain, by options and the relay's own settings.
 *
 * @param given the domain, where it is an argument
 * @throws {InputError} for what is missing or malformed; never with any of the key
 */
async function readMailDomain(
  host: Host,
  values: DomainValues,
  given: string | undefined,
): Promise<MailDomain> {
  const name = given ?? host.env("RELAY_MAIL_DOMAIN") ?? "";
  if (name === "") throw new UsageError("which domain? Pass it, or set RELAY_MAIL_DOMAIN");
  return {
    domain: domainName(name, "the domain"),
    receives: required(values.receives, "--receives=HOST says who takes the domain's mail"),
    sends: required(
      values.sends,
      "--sends=WHO says who sends the domain's mail, such as include:spf.provider.example",
    ),
    dkim: await readKey(host, values),
    dmarc: { policy: values.dmarc, reportTo: values["report-to"] },
  };
}

function required(given: readonly string[] | undefined, words: string): readonly string[] {
  if (given === undefined) throw new UsageError(words);
  if (given.length > MAX_HOSTS) throw new UsageError(`at most ${MAX_HOSTS} hosts`);
  return [...new Set(given)];
}

function domainName(text: string, label: string): string {
  const name = parseDomainName(text);
  if (name !== null) return name;
  throw new UsageError(`${label} must be a name such as mail.example.org; other alphabets as xn--`);
}

/** As SPF writes it: a bare address is one that sends. */
function mechanism(text: string): string {
  const lower = text.toLowerCase();
  const [, kind, value] = /^(include|a|mx|ip4|ip6):(.+)$/.exec(lower) ?? [];
  const range = parseIpRange(kind === "ip4" || kind === "ip6" ? value! : lower);
  if (range !== null && (kind === undefined || kind === `ip${range.version}`)) {
    return `ip${range.version}:${value ?? lower}`;
  }
  if (lower === "mx" || lower === "a") return lower;
  // Names of providers may begin with an underscore.
  const bare = value?.replaceAll(/(?<=^|\.)_/g, "");
  if (kind !== undefined && kind !== "ip4" && kind !== "ip6" && parseDomainName(bare!) !== null) {
    return `${kind}:${value!.replace(/\.$/, "")}`;
  }
  throw new UsageError(
    "--sends takes include:DOMAIN, an IP address or network, mx, a:HOST or mx:DOMAIN",
  );
}

async function readKey(host: Host, values: DomainValues): Promise<MailDomain["dkim"]> {
  const file = values["dkim-key"];
  const key = file === undefined
    ? host.env("RELAY_MAIL_DKIM_KEY") ?? ""
    : new TextDecoder().decode(await readWhole(host, file));
  const selector = values.selector ?? host.env("RELAY_MAIL_DKIM_SELECTOR");
  if (file === undefined && key === "") {
    if (values.selector === undefined) return null;
    throw new UsageError("--selector goes with --dkim-key");
  }
  const name = selector === undefined ? null : parseDomainName(selector, 1);
  if (name === null) {
    throw new UsageError("--selector=S is the label that the DKIM key is published under");
  }
  const privateKeyPem = readDkimKey(key.trim());
  if (privateKeyPem !== null) return { selector: name, text: dkimRecord(privateKeyPem) };
  throw new InputError(
    `the DKIM key must be an RSA key of at least ${MIN_DKIM_KEY_BITS} bits, as PKCS#8 PEM or base64 of ` +
      "its DER",
  );
}

function portNumber(text: string): number {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new UsageError("--port takes a number from 1 to 65535");
}

function dmarcPolicy(text: string): DmarcPolicy {
  const policy = DMARC_POLICIES.find((one) => one === text.toLowerCase());
  if (policy !== undefined) return policy;
  throw new UsageError("--dmarc takes none, quarantine or reject");
}

/** What ends a URI or a tag of the record is none. */
function reportAddress(text: string): string {
  const at = text.lastIndexOf("@");
  const isOne = /^[A-Za-z0-9._+-]{1,64}$/.test(text.slice(0, Math.max(at, 0))) &&
    parseDomainName(text.slice(at + 1)) !== null;
  if (isOne) return text;
  throw new UsageError("--report-to takes one e-mail address, such as dmarc@example.org");
}
