import {
  decodeAnswer,
  type DnsAnswer,
  type DnsErrorCode,
  encodeQuestion,
  type RecordType,
} from "./dns_message.ts";

/** Where a DNS server listens. */
export interface DnsServer {
  /** An IP address. */
  readonly host: string;
  readonly port: number;
  /** Whether it is asked over TCP alone. */
  readonly tcp?: true;
}

/** How DNS is asked. */
export interface DnsAsked {
  /** Asked one after the other until one knows. */
  readonly servers: readonly DnsServer[];
  /** Asks one question; gives the answer, or how it failed. Never rejects. */
  exchange(server: DnsServer, question: Uint8Array): Promise<Uint8Array | { code: DnsErrorCode }>;
  /** Called for a server whose reply is no answer. */
  onNonsense?(error: Error): void;
}

/** Records of a question: RFC 7208 allows ten hosts of a kind, and few names have more texts. */
const MAX_RECORDS = 100;

/**
 * Asks DNS servers for the records of a name; what one knows is not questioned.
 *
 * @param name without a dot at its end
 * @returns how the last server failed where none knows; never throws
 */
export async function askDns(
  { servers, exchange, onNonsense }: DnsAsked,
  name: string,
  type: RecordType,
): Promise<DnsAnswer> {
  const [high, low] = crypto.getRandomValues(new Uint8Array(2));
  const id = high! << 8 | low!;
  const question = encodeQuestion(id, name, type);
  if (question === null) return { code: "ENOTFOUND" };
  let last: DnsAnswer = { code: "ESERVFAIL" };
  for (const server of servers) {
    const given = await exchange(server, question);
    const answer = "code" in given ? given : decodeAnswer(given, { id, name, type }, MAX_RECORDS);
    if (answer === null) onNonsense?.(new Error("a DNS server gave what is no answer"));
    last = answer ?? { code: "ESERVFAIL" };
    if (!("code" in last) || !/^E(?:SERVFAIL|REFUSED|TIMEOUT)$/.test(last.code)) return last;
  }
  return last;
}
