/** The checks of received mail as the mail area uses them, and what start-up says of them. */
import type { Deps } from "../../../base/parts/deps.ts";
import { logSparsely } from "../../../base/log_sparsely.ts";
import { startupNote } from "../../../base/config/startup_notes.ts";
import type { DnsServer } from "../../../../toolkit/mail/ask_dns.ts";
import { RESOLV_CONF, systemNameservers } from "../../../../toolkit/mail/resolv_conf.ts";
import { mayAskByUdp } from "../../../../toolkit/node/dns_over_udp.ts";
import { AuthChecker, startAuthWorker } from "./auth_checker.ts";
import type { MailClient, SenderCheck } from "./auth_messages.ts";
import { createDnsClient } from "../../../base/outside/dns_client.ts";
import { UNCHECKED } from "./fixed_auth.ts";
import type { Party } from "./next_check.ts";

export interface Auth {
  /**
   * What SPF, DKIM and DMARC say of a mail, within some seconds; never rejects.
   */
  check(
    raw: Uint8Array<ArrayBuffer>,
    client: MailClient,
    party: Party,
  ): Promise<SenderCheck>;
  notes: readonly string[];
  close(): void;
}

/** @param systemDns where RELAY_DNS_SERVERS is unset */
export async function openAuth(
  { config, log, now }: Pick<Deps, "config" | "log" | "now">,
  systemDns: () => Promise<DnsServer[]> = readSystemDns,
): Promise<Auth> {
  const { local, dnsServers, trustedSealers } = config.mail;
  if (local) {
    return {
      check: () => Promise.resolve({ auth: UNCHECKED, isReplyToUnsigned: false }),
      notes: [startupNote("senders", "not checked: local mode asks no DNS")],
      close() {},
    };
  }
  const isGiven = dnsServers.length > 0;
  const servers = isGiven ? dnsServers : await systemDns();
  const checker = new AuthChecker({
    dns: createDnsClient(servers, logSparsely(log, "mail_dns_failed")),
    start: startAuthWorker,
    onLoss: logSparsely(log, "mail_auth_worker_lost"),
    now,
    trustedSealers,
  });
  return {
    check: (raw, client, party) => checker.check(raw, client, party),
    notes: [startupNote("senders", noteOf(servers, isGiven))],
    close: () => checker.close(),
  };
}

function noteOf(servers: readonly DnsServer[], isGiven: boolean): string {
  if (servers.length === 0) {
    return "not checked (auth.verdict error): no DNS server is known, set RELAY_DNS_SERVERS";
  }
  const named = servers.map(({ host, port, tcp }) =>
    `${tcp === true ? "tcp:" : ""}${host.includes(":") ? `[${host}]` : host}:${port}`
  );
  const byTcp = servers.every(({ tcp }) => tcp === true) || mayAskByUdp()
    ? ""
    : " over TCP alone, since the flags lack [::]:0";
  return `checked by DNS of ${named.join(", ")}${byTcp}${isGiven ? "" : " (the system's)"}`;
}

/** The DNS servers that the system's file names; none where it may not be read. */
async function readSystemDns(): Promise<DnsServer[]> {
  try {
    return systemNameservers(await Deno.readTextFile(RESOLV_CONF))
      .map((host) => ({ host, port: 53 }));
  } catch {
    return [];
  }
}
