/** Who a message came from, as known before it is read. Pure. */
import { countedAddress } from "../../base/http/callers/client_address.ts";
import type { Envelope } from "./envelope.ts";

/** Domain of the envelope sender, lowercased; "" for the null sender. */
export function senderDomain({ from }: Pick<Envelope, "from">): string {
  return from.slice(from.lastIndexOf("@") + 1).toLowerCase();
}

/** The client's address; where it is unknown, the domain of the envelope sender. */
export function mailSource({ clientIp, from }: Pick<Envelope, "clientIp" | "from">): string {
  const address = clientIp === null ? undefined : countedAddress(clientIp);
  return address ?? `@${senderDomain({ from })}`;
}
