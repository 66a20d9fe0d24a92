/** Inboxes as a part of the mail area, with the erasure of deleted ones. */
import { mount } from "../../description/declaration.ts";
import type { MailCore, MailPart } from "../mail_core.ts";
import { InboxErasures } from "./inbox_erasures.ts";
import { INBOX_ROUTES } from "./routes.ts";

export function openInboxes(core: MailCore): MailPart {
  const { store, commits, leases, blobs, deps: { log } } = core;
  const erasures = new InboxErasures({ store, commits, leases, blobs, log });
  return {
    routes: mount(INBOX_ROUTES, { ...core, erasures }),
    start: () => erasures.begin(),
    everyMinute: () => erasures.run(),
    close: () => erasures.close(),
  };
}
