/** Whom a message goes to, when it is clear that it could be stored. */
import type { Identities } from "../../agents/identities.ts";
import type { Identity } from "../../agents/agent_records.ts";
import type { FreeDisk } from "../../../base/storage/free_disk.ts";
import { unknownRecipient } from "./send_refusals.ts";

export interface RecipientServices {
  identities: Identities;
  freeDisk: FreeDisk;
}

/**
 * @param to any address form
 * @throws RelayError `not_found`, `unavailable` where the disk is nearly full
 */
export async function findRecipient(
  { identities, freeDisk }: RecipientServices,
  to: string,
): Promise<Identity> {
  const recipient = await identities.resolve(to);
  if (recipient === null) throw unknownRecipient(); // Check 7
  await freeDisk.refuseWhenFull(); // Check 8
  return recipient;
}
