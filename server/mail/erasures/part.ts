/** The erasure of deleted inboxes as a part of the mail area. */
import type { Part } from "../../base/parts/part.ts";
import { InboxErasures, type InboxErasuresOptions } from "./inbox_erasures.ts";

export interface ErasuresPart extends Part {
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
