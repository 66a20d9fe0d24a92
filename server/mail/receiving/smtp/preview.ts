/** What is decided of a recipient before the message is sent. */
import { readBounceAddress } from "../../composing/bounce_address.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import { orgKey, type OrgRecord, orgState } from "../../records/org_record.ts";
import type { Envelope } from "../envelope.ts";
import { isOperatorAddress } from "../destinations.ts";
import type { RefusedCode } from "../received_mail.ts";

/** The envelope as far as it is known. */
export type BegunEnvelope = Pick<Envelope, "from" | "clientIp" | "clientHelo"> & {
  /** What the client says that the message has. */
  sizeBytes?: number;
};

/**
 * Why a recipient is refused; null or "operator" where the message may come. It writes nothing.
 * @throws RelayError `unavailable` where the store cannot tell now
 */
export type Preview = (
  envelope: BegunEnvelope,
  address: string,
) => Promise<RefusedCode | "operator" | null | { code: RefusedCode; retryAfterMs: number }>;

export type PreviewServices = Pick<
  MailCore,
  "inboxes" | "records" | "store" | "limits" | "domain" | "secret"
>;

/** Whether there is such an inbox. */
export function createPreview(services: PreviewServices): Preview {
  const { inboxes, records, store, limits, domain, secret } = services;
  return async (_envelope, address) => {
    if (isOperatorAddress(address, domain)) return "operator";
    const inbox = await inboxes.byAddress(address);
    if (inbox === null) {
      const localPart = address.slice(0, address.lastIndexOf("@"));
      const named = readBounceAddress(localPart, await secret.key("mail-bounce"));
      return named === null ? "not_found" : null;
    }
    const org = await records.read<OrgRecord>(orgKey(inbox.orgId));
    if (org === null || orgState(org, store.now(), limits) === "gone") return "not_found";
    return org.suspendedAtMs === null ? null : "org_suspended";
  };
}
