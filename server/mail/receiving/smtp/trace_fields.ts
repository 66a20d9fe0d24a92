/** What a mail server puts before a message that it takes (RFC 5321, section 4.4). Pure. */
export interface Trace {
  /** "" for the null sender. */
  from: string;
  to: readonly string[];
  /** As the client named itself. */
  helo: string;
  isExtended: boolean;
  isSecure: boolean;
  clientIp: string | null;
  domain: string;
  /** What the client is told of the message too. */
  id: string;
  nowMs: number;
}

/** Return-Path and Received, each with its CRLF; the recipient is named where there is no other. */
export function traceFields(trace: Trace): Uint8Array<ArrayBuffer> {
  const { from, to, helo, clientIp, domain, id, nowMs } = trace;
  const name = /^[A-Za-z0-9._:[\]-]{1,255}$/.test(helo) ? helo : "unknown";
  const client = clientIp === null
    ? ""
    : ` ([${clientIp.includes(":") ? `IPv6:${clientIp}` : clientIp}])`;
  const one = to.length === 1 ? ` for <${to[0]}>` : "";
  const date = new Date(nowMs).toUTCString().replace("GMT", "+0000");
  return new TextEncoder().encode(
    `Return-Path: <${from}>\r\n` +
      `Received: from ${name}${client}\r\n\tby ${domain} with ${
        protocol(trace)
      } id ${id}${one};\r\n` +
      `\t${date}\r\n`,
  );
}

/** RFC 3848, section 1. */
function protocol({ isExtended, isSecure }: Trace): string {
  if (isSecure) return "ESMTPS";
  return isExtended ? "ESMTP" : "SMTP";
}
