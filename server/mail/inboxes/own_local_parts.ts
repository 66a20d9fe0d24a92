import type { MailConfig } from "../../config/mail.ts";

/** Local parts at the domain of inboxes that the relay itself uses, so that no inbox has them. */
export function ownLocalParts({ domain, from, postmaster }: MailConfig): string[] {
  return [from?.address, postmaster].flatMap((address) => {
    const at = address?.lastIndexOf("@") ?? -1;
    if (address === undefined || address.slice(at + 1).toLowerCase() !== domain) return [];
    return [address.slice(0, at).toLowerCase()];
  });
}
