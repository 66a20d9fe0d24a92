/** Suppressed addresses as a part of the mail area. */
import { mount } from "../../../base/description/declaration.ts";
import type { Part } from "../../../base/parts/part.ts";
import type { MailBase } from "../../core/mail_base.ts";
import { SUPPRESSION_ROUTES } from "./routes.ts";
import { Suppressions } from "./suppressions.ts";

export interface SuppressionsPart extends Part {
  suppressions: Suppressions;
}

export function openSuppressions(core: MailBase): SuppressionsPart {
  const suppressions = new Suppressions(core);
  return { suppressions, routes: mount(SUPPRESSION_ROUTES, { ...core, suppressions }) };
}
