/** Who a message came from and for whom, as the gateway says in X-Relay-Envelope. Pure. */
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { invalidJson } from "../../base/errors.ts";
import { countedAddress } from "../../base/http/callers/client_address.ts";
import { readObject } from "../../base/http/fields/json_body.ts";

export interface Envelope {
  /** "" for the null sender. */
  from: string;
  /** 1 to 100, as given. */
  to: readonly string[];
  /** Address of the mail server that handed the message in; null where it is unknown. */
  clientIp: string | null;
  clientHelo: string | null;
}

const MAX_RECIPIENTS = 100;
/** What SMTP lets an address have at most (RFC 5321, section 4.5.3.1). */
const MAX_ADDRESS = 320;
const MAX_HELO = 255;
const FORM =
  'the header X-Relay-Envelope must hold ASCII JSON such as {"from":"a@b.example","to":["c@d.example"]}, ' +
  `from "" for the null sender, to with 1 to ${MAX_RECIPIENTS} addresses, client_ip and client_helo where known`;

/**
 * @param header as it came; null where it is missing
 * @throws RelayError `invalid_json`
 */
export function parseEnvelope(header: string | null): Envelope {
  const { from, to, client_ip: clientIp, client_helo: clientHelo } = parseObject(header);
  const isEnvelope = isAddress(from, true) && Array.isArray(to) && to.length > 0 &&
    to.length <= MAX_RECIPIENTS && to.every((one) => isAddress(one, false)) &&
    (clientIp == null || typeof clientIp === "string" && countedAddress(clientIp) !== undefined) &&
    (clientHelo == null || typeof clientHelo === "string" && clientHelo.length <= MAX_HELO);
  if (!isEnvelope) throw invalidJson(FORM);
  return {
    from: from as string,
    to: [...new Set(to as string[])],
    clientIp: (clientIp ?? null) as string | null,
    clientHelo: (clientHelo ?? null) as string | null,
  };
}

function parseObject(header: string | null): JsonObject {
  // Deno gives header bytes as Latin-1: what is not ASCII would not be what was signed.
  if (header === null || !/^[\x20-\x7e]+$/.test(header)) throw invalidJson(FORM);
  try {
    return readObject(new TextEncoder().encode(header));
  } catch {
    throw invalidJson(FORM);
  }
}

/** Senders write what they like; who gets mail is looked up, so that the form matters little. */
function isAddress(value: unknown, mayBeEmpty: boolean): boolean {
  if (typeof value !== "string" || value.length > MAX_ADDRESS) return false;
  return value === "" ? mayBeEmpty : /^[\x20-\x7e]+$/.test(value);
}
