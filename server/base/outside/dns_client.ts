/** Asks DNS servers, each for a bounded time. */
import { askDns, type DnsServer } from "../../../toolkit/mail/ask_dns.ts";
import type { DnsAnswer, RecordType } from "../../../toolkit/mail/dns_message.ts";
import { LateError, nodeDns } from "../../../toolkit/node/dns_exchange.ts";

/** Asks for the records of a name. Never throws; what takes too long is ETIMEOUT. */
export type AskDns = (
  name: string,
  type: RecordType,
  signal: AbortSignal,
) => Promise<DnsAnswer>;

/** How long one server may take before the next one is asked. */
const SERVER_MS = 2_000;

/** @param onFailure called for a server that does not answer */
export function createDnsClient(
  servers: readonly DnsServer[],
  onFailure: (failure: unknown) => void,
): AskDns {
  return (name, type, signal) => {
    const exchange = (server: DnsServer, question: Uint8Array) =>
      nodeDns.askDnsServer(server, question, SERVER_MS, signal).catch((error) => {
        if (!signal.aborted) onFailure(error);
        return { code: error instanceof LateError ? "ETIMEOUT" as const : "ESERVFAIL" as const };
      });
    return askDns({ servers, exchange, onNonsense: onFailure }, name, type);
  };
}
