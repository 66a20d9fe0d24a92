/** What a mail server is told of a recipient before the message (docs/mail.md, "Mail straight from the internet"). */
import { countedAddress } from "../../base/http/callers/client_address.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { type ClientRate, isCounted } from "./client_rate.ts";
import type { Destinations } from "./destinations.ts";
import { ListChecks } from "./list_checks.ts";
import type { AnnouncedMail, RefusedCode } from "./received_mail.ts";
import type { Recipient, Recipients } from "./recipients.ts";
import type { RefusalWindows } from "./refusal_windows.ts";

/** Null: the message may come; "operator": it may, and is passed on. */
export type Previewed =
  | RefusedCode
  | "operator"
  | null
  | { code: RefusedCode; retryAfterMs: number };

export interface PreviewServices extends Pick<MailCore, "limits" | "blobs"> {
  destinations: Pick<Destinations, "preview">;
  recipients: Recipients;
  refusals: RefusalWindows;
  client: ClientRate;
  /** @throws RelayError `unavailable` where too many messages of the inbox are under way */
  refuseWhenBusy: (found: Recipient) => void;
  /** Envelopes that are counted as refused: each once, however many of its recipients refuse it. */
  refusedBefore: WeakSet<AnnouncedMail>;
}

/**
 * What the envelope decides of a recipient, as Receiver.receive() decides it of the message: that may still be
 * refused, and what is refused here for good would be refused there, unless the inbox has it from before. It reads
 * at most ten rows, and writes nothing: refusals count in memory, with the client. One that has asked for too
 * many unknown addresses is told nothing more of any, so that it cannot try names.
 * @param envelope the same object for all recipients of a message: it counts once
 * @param address as the client gives it
 * @throws RelayError `unavailable` where it has to be tried again
 */
export async function previewRecipient(
  { destinations, recipients, refusals, client, refusedBefore, limits, blobs, refuseWhenBusy }:
    PreviewServices,
  envelope: AnnouncedMail,
  address: string,
): Promise<Previewed> {
  const named = await destinations.preview(address, envelope);
  if (named?.code === null) return named.isOperator ? "operator" : null;
  if (named?.isOperator) return shown(named);
  const counted = envelope.clientIp === null ? undefined : countedAddress(envelope.clientIp);
  const unknown = `unknown ${counted}`;
  const most = limits.mailUnknownPerClientPerHour;
  const waitMs = counted === undefined ? null : refusals.waitMs(unknown, most);
  if (waitMs !== null) return { code: "rate_limited", retryAfterMs: waitMs };
  const found = named === null ? await recipients.find(address) : null;
  if (found === null) {
    if (counted !== undefined) refusals.count(unknown, most);
    return "not_found";
  }
  const lists = new ListChecks(envelope, refusals);
  try {
    // A message has at least one byte, whatever is said of it.
    const sizeBytes = Math.max(1, envelope.sizeBytes ?? 1);
    const early = await recipients.decideUnread(found, sizeBytes, lists);
    if (early === null) return null;
    if (early === undefined) {
      refuseWhenBusy(found);
      await client.look();
    }
    const refused = early ?? client.refused;
    if (refused === null) {
      await blobs.refuseWhenFull();
      return null;
    }
    if (isCounted(refused.code) && !refusedBefore.has(envelope)) {
      refusedBefore.add(envelope);
      client.countRefused();
    }
    return shown(refused);
  } finally {
    lists.done();
    client.done();
  }
}

function shown(refused: { code: RefusedCode; retryAfterMs?: number | undefined }): Previewed {
  const { code, retryAfterMs } = refused;
  return retryAfterMs === undefined ? code : { code, retryAfterMs };
}
