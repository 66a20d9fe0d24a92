import { DMARC_POLICIES, type DmarcPolicy } from "../mail/check_dmarc.ts";
import { parseDomainName } from "../mail/domain_name.ts";
import type { MailDomain } from "../mail/domain_records.ts";
import { parseIpRange } from "../mail/ip_range.ts";
import { dkimRecord, MIN_DKIM_KEY_BITS, readDkimKey } from "../node/dkim_key.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import type { parseOptions } from "./parse_options.ts";
import { readWhole } from "./read_input.ts";

/** Options that describe a mail domain. */
export const MAIL_DOMAIN_OPTIONS = {
  receives: { type: "string", multiple: true },
  sends: { type: "string", multiple: true },
  "dkim-key": { type: "string" },
  selector: { type: "string" },
  dmarc: { type: "string" },
  "report-to": { type: "string" },
} as const;

type Values = ReturnType<typeof parseOptions<typeof MAIL_DOMAIN_OPTIONS>>["values"];

const MAX_HOSTS = 20;

/**
 * What an operator says of a mail domain, by options and the relay's own settings.
 *
 * @param given the domain, where it is an argument
 * @throws {InputError} for what is missing or malformed; never with any of the key
 */
export async function readMailDomain(
  host: Host,
  values: Values,
  given: string | undefined,
): Promise<MailDomain> {
  const name = given ?? host.env("RELAY_MAIL_DOMAIN") ?? "";
  if (name === "") throw usage("which domain? Pass it, or set RELAY_MAIL_DOMAIN");
  const receives = required(values.receives, "--receives=HOST says who takes the domain's mail");
  const sends = required(
    values.sends,
    "--sends=WHO says who sends the domain's mail, such as include:spf.provider.example",
  );
  const reportTo = values["report-to"];
  if (reportTo !== undefined && !isReportAddress(reportTo)) {
    throw usage("--report-to takes one e-mail address, such as dmarc@example.org");
  }
  return {
    domain: domainOf(name, "the domain"),
    receives: receives.map((one) => domainOf(one, "--receives")),
    sends: sends.map(mechanism),
    dkim: await readKey(host, values),
    dmarc: { policy: policyOf(values.dmarc), reportTo },
  };
}

function usage(words: string): InputError {
  return new InputError(words, "usage");
}

function required(given: readonly string[] | undefined, words: string): readonly string[] {
  if (given === undefined) throw usage(words);
  if (given.length > MAX_HOSTS) throw usage(`at most ${MAX_HOSTS} hosts`);
  return [...new Set(given)];
}

function domainOf(text: string, what: string): string {
  const name = parseDomainName(text);
  if (name !== null) return name;
  throw usage(`${what} must be a name such as mail.example.org; other alphabets as xn--`);
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
  throw usage("--sends takes include:DOMAIN, an IP address or network, mx, a:HOST or mx:DOMAIN");
}

async function readKey(host: Host, values: Values): Promise<MailDomain["dkim"]> {
  const file = values["dkim-key"];
  const key = file === undefined
    ? host.env("RELAY_MAIL_DKIM_KEY") ?? ""
    : new TextDecoder().decode(await readWhole(host, file));
  const selector = values.selector ?? host.env("RELAY_MAIL_DKIM_SELECTOR");
  if (file === undefined && key === "") {
    if (values.selector === undefined) return null;
    throw usage("--selector goes with --dkim-key");
  }
  const name = selector === undefined ? null : parseDomainName(selector, 1);
  if (name === null) throw usage("--selector=S is the label that the DKIM key is published under");
  const privateKeyPem = readDkimKey(key.trim());
  if (privateKeyPem !== null) return { selector: name, text: dkimRecord(privateKeyPem) };
  throw new InputError(
    `the DKIM key must be an RSA key of at least ${MIN_DKIM_KEY_BITS} bits, as PKCS#8 PEM or base64 of ` +
      "its DER",
  );
}

function policyOf(text: string | undefined): DmarcPolicy | undefined {
  const policy = DMARC_POLICIES.find((one) => one === text?.toLowerCase());
  if (policy !== undefined || text === undefined) return policy;
  throw usage("--dmarc takes none, quarantine or reject");
}

/** What ends a URI or a tag of the record is none. */
function isReportAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  return /^[A-Za-z0-9._+-]{1,64}$/.test(text.slice(0, Math.max(at, 0))) &&
    parseDomainName(text.slice(at + 1)) !== null;
}
