/** Suppressed addresses as a part of the mail area. */
import type { MailCore, MailPart } from "../mail_core.ts";
import { suppressionHandlers } from "./routes.ts";
import { Suppressions } from "./suppressions.ts";

export interface SuppressionsPart extends MailPart {
  suppressions: Suppressions;
}

export function openSuppressions(core: MailCore): SuppressionsPart {
  const suppressions = new Suppressions(core);
  return { suppressions, handlers: suppressionHandlers({ ...core, suppressions }) };
}
