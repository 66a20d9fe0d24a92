import { askDns, type DnsAsked } from "../mail/ask_dns.ts";
import { type Finding, type FindingState, FINE, missing } from "../mail/check_records.ts";
import type { DnsAnswer, RecordType } from "../mail/dns_message.ts";
import type { MailDomain } from "../mail/domain_records.ts";
import {
  checkMtaSts,
  checkPolicy,
  checkReverse,
  checkTlsReports,
  policyLines,
  policyUrl,
  reverseName,
} from "../mail/transport_records.ts";
import { checkCertificate } from "../node/certificate_file.ts";
import { InputError } from "./failure.ts";
import type { Host } from "./host.ts";
import { readWhole } from "./read_input.ts";

/** What is looked at besides the records of the domain itself. */
export type SurroundingName =
  | "mta_sts"
  | "mta_sts_policy"
  | "tls_reports"
  | "reverse"
  | "port_25"
  | "certificate";

export interface Surrounding {
  record: SurroundingName;
  name: string;
  type: string;
  /** What to write there. */
  values: readonly string[];
  state: FindingState;
  why: string | null;
  published: readonly string[];
}

/**
 * Whether one that is missing may be: senders deliver as well without MTA-STS and TLS reports. A record
 * that announces a policy needs it.
 */
export function isOptional(
  { record }: { record: string },
  all: readonly { record: string; state: FindingState | null }[],
): boolean {
  if (record !== "mta_sts_policy") return record === "mta_sts" || record === "tls_reports";
  return !all.some(({ record, state }) =>
    record === "mta_sts" && (state === "fine" || state === "differs")
  );
}

export interface SurroundingOptions {
  host: Host;
  plan: MailDomain;
  dns: DnsAsked;
  /** A file with the certificate of the mail server, where it is this machine's. */
  certificate: string | undefined;
  port: number;
}

const PORT_MS = 10_000;
const POLICY_MS = 10_000;
/** RFC 8461, section 3.2, would have 64 KB taken. */
const MAX_POLICY_BYTES = 64 * 1024;
const MAX_ADDRESSES = 4;

/** Looks at all of it at once. @throws {InputError} for a certificate file that is none */
export async function lookAround(options: SurroundingOptions): Promise<Surrounding[]> {
  const { plan: { domain, receives, dmarc } } = options;
  const reports = `mailto:${dmarc.reportTo ?? `postmaster@${domain}`}`;
  const found = await Promise.all([
    textAt(options, "mta_sts", `_mta-sts.${domain}`, "v=STSv1; id=1", checkMtaSts),
    policyOf(options),
    textAt(
      options,
      "tls_reports",
      `_smtp._tls.${domain}`,
      `v=TLSRPTv1; rua=${reports}`,
      checkTlsReports,
    ),
    ...receives.map((host) => namesOf(options, host)),
    ...receives.map((host) => portOf(options, host)),
    ...(options.certificate === undefined ? [] : [certificateOf(options, options.certificate)]),
  ]);
  return found.flat();
}

async function textAt(
  { dns }: SurroundingOptions,
  record: SurroundingName,
  name: string,
  value: string,
  check: (texts: readonly string[]) => Finding,
): Promise<Surrounding> {
  const answer = await askDns(dns, name, "TXT");
  const texts = textsOf(answer);
  const published = texts ?? [];
  const finding = texts === null ? UNTOLD : check(texts);
  return { record, name, type: "TXT", values: [value], ...finding, published };
}

const UNTOLD: Finding = { state: "unknown", why: "DNS does not tell" };

/** @returns null where DNS does not tell */
function textsOf(answer: DnsAnswer): string[] | null {
  if ("code" in answer) return /^E(?:NOTFOUND|NODATA)$/.test(answer.code) ? [] : null;
  return answer.records.flatMap((record) =>
    typeof record === "string" ? [record] : Array.isArray(record) ? [record.join("")] : []
  );
}

async function policyOf(
  { host, plan: { domain, receives } }: SurroundingOptions,
): Promise<Surrounding> {
  const name = policyUrl(domain);
  const shown = {
    record: "mta_sts_policy",
    name,
    type: "HTTPS",
    values: policyLines(receives),
  } as const;
  try {
    const answer = await host.fetch(name, {
      redirect: "manual",
      signal: AbortSignal.timeout(POLICY_MS),
    });
    if (answer.status !== 200) {
      await answer.body?.cancel();
      return { ...shown, ...missing(`it is answered ${answer.status}`), published: [] };
    }
    const policy = await readText(answer);
    return { ...shown, ...checkPolicy(policy, receives), published: policy.trim().split(/\r?\n/) };
  } catch {
    return { ...shown, ...missing("no such file can be fetched"), published: [] };
  }
}

/** @throws Error for more than a policy may have */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_POLICY_BYTES) throw new Error("the policy has no end");
  }
  return text + decoder.decode();
}

/** For each address of a host: whether it has a name that leads back. */
async function namesOf({ dns }: SurroundingOptions, host: string): Promise<Surrounding[]> {
  const ask = async (name: string, type: RecordType) => textsOf(await askDns(dns, name, type));
  const addressesOf = async (name: string) =>
    (await Promise.all([ask(name, "A"), ask(name, "AAAA")])).flatMap((found) => found ?? []);
  const addresses = (await addressesOf(host)).slice(0, MAX_ADDRESSES);
  return await Promise.all(addresses.map(async (address) => {
    const name = reverseName(address) ?? address;
    const names = await ask(name, "PTR");
    const back = names?.slice(0, MAX_ADDRESSES).map(addressesOf) ?? [];
    const finding = names === null
      ? UNTOLD
      : checkReverse(address, names, (await Promise.all(back)).flat());
    const shown = { record: "reverse", name, type: "PTR", values: [host] } as const;
    return { ...shown, ...finding, published: names ?? [] };
  }));
}

/** Whether a mail server answers there. From many networks no port 25 can be reached. */
async function portOf(
  { host: { callMailServer }, port, plan }: SurroundingOptions,
  name: string,
): Promise<Surrounding> {
  const shown = { record: "port_25", name, type: `TCP ${port}`, values: [] } as const;
  const call = { host: name, port, helo: plan.domain, timeoutMs: PORT_MS };
  try {
    const { greeting, offers, tls, answered: { step, reply } } = await callMailServer(call);
    const published = [greeting];
    if (Math.floor(reply.code / 100) !== 2) {
      const why = `${step} is answered ${reply.code} ${reply.text}`;
      return { ...shown, state: "differs", why, published };
    }
    if (tls === null) {
      const why = "it offers no TLS: set RELAY_MAIL_TLS_CERT and RELAY_MAIL_TLS_KEY";
      return { ...shown, state: "differs", why, published };
    }
    const distrust = tls.distrust === null
      ? null
      : `its certificate is not trusted: ${tls.distrust}`;
    return { ...shown, ...FINE, why: distrust, published: [greeting, offers.join(" ")] };
  } catch (error) {
    const why = `${
      (error as Error).message
    }; the port is closed, or this network lets none out to it`;
    return { ...shown, state: "unknown", why, published: [] };
  }
}

async function certificateOf(
  { host, plan: { receives } }: SurroundingOptions,
  name: string,
): Promise<Surrounding> {
  const shown = { record: "certificate", name, type: "PEM", values: [], published: [] } as const;
  const pem = new TextDecoder().decode(await readWhole(host, name));
  try {
    return { ...shown, ...checkCertificate(pem, receives, host.clock.now()) };
  } catch {
    throw new InputError(`'${name}' holds no certificate in PEM`);
  }
}
