/** The erasure of deleted inboxes as a part of the mail area. */
import type { MailPart } from "../core/mail_base.ts";
import { InboxErasures, type InboxErasuresOptions } from "./inbox_erasures.ts";

export interface ErasuresPart extends MailPart {
  erasures: InboxErasures;
}

export function openErasures(options: InboxErasuresOptions): ErasuresPart {
  const erasures = new InboxErasures(options);
  return {
    erasures,
    start: () => erasures.begin(),
    everyMinute: () => erasures.run(),
    close: () => erasures.close(),
  };
}
