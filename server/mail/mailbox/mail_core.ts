/** What every part of the mail area is given: what it runs on, and where its mail lies. */
import type { Core } from "../../base/parts/core.ts";
import { SendsInFlight } from "./statuses/sends_in_flight.ts";
import { Inboxes } from "./inboxes/inboxes.ts";
import { ownLocalParts } from "./inboxes/local_part.ts";
import { createMailBase, type MailBase, type MailOptions } from "../core/mail_base.ts";
import { Messages } from "./messages/messages.ts";

export interface MailCore extends MailBase {
  inboxes: Inboxes;
  messages: Messages;
  inFlight: SendsInFlight;
}

/** The core of a mail area that is on. */
export function createMailCore(
  core: Core,
  options: MailOptions,
  own: Pick<MailBase, "secret" | "reader" | "answers">,
): MailCore {
  const base = createMailBase(core, options, own);
  const messages = new Messages(base);
  return {
    ...base,
    inboxes: new Inboxes({ ...base, ownLocalParts: ownLocalParts(core.deps.config.mail) }),
    messages,
    inFlight: new SendsInFlight({
      ...base,
      readAll: (orgId, inboxId, ids) => messages.readAll(orgId, inboxId, ids),
    }),
  };
}
