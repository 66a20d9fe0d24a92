/** What is reported of deliveries, as a part of the mail area: by bounces, and by the operator's gateway. */
import { mount } from "../../../base/description/declaration.ts";
import type { Part } from "../../../base/parts/part.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import { BounceReports } from "./bounce_reports.ts";
import { DeliveryEvents } from "./delivery_events.ts";
import { type ChangedRecipient, RecipientChanges } from "./recipient_changes.ts";
import { EVENT_ROUTES } from "./routes.ts";

export interface Reports extends Part {
  /** Changes recipients by what is reported of them. */
  changes: RecipientChanges;
  /** Takes mail to bounce addresses. */
  reports: BounceReports;
}

/**
 * @param inboundSecret of the operator's gateway, which reports too; null where there is none
 * @param onChange told of each change of a recipient as its commit plans it, of some more than once
 */
export function openReports(
  core: MailCore,
  inboundSecret: Uint8Array | null,
  onChange: (changed: ChangedRecipient) => void = () => {},
): Reports {
  const { store, reader } = core;
  const changes = new RecipientChanges({ ...core, onChange: (_, changed) => onChange(changed) });
  const events = new DeliveryEvents({ store, changes });
  return {
    changes,
    reports: new BounceReports({ store, changes, reader }),
    routes: mount(EVENT_ROUTES, { ...core, events, inboundSecret }),
  };
}
