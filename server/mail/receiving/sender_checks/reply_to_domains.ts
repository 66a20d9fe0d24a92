import { parseAddresses } from "../../reading/mime/addresses.ts";
import { fieldValue, readFields } from "../../reading/mime/header_fields.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

/** How many addresses are looked at, and shown at most; with more, a domain that cannot exist is added. */
const MAX_ADDRESSES = 500;

/**
 * Domains that answers to a mail would go to by its Reply-To, lowercased. Read as the parser reads what
 * is shown, so that nothing can be shown that was not judged. Pure; part of the worker.
 *
 * @param head the header of the mail
 */
export function replyToDomains(head: Uint8Array): string[] {
  return toEnd(readFields(head, 0, head.length)).filter(({ name }) => name === "reply-to")
    .flatMap((field) => {
      const { addresses, isCut } = parseAddresses(
        fieldValue(head, field),
        MAX_ADDRESSES,
        new Set(),
      );
      const domains = addresses.map(({ address }) => address.slice(address.lastIndexOf("@") + 1));
      return isCut ? [...domains, ""] : domains;
    });
}
