import type { Setting } from "../description/operation.ts";

/** A document that people and programs read on a relay. */
export interface Guide {
  /** Its name in addresses: /docs/{slug}, and /docs/{slug}.md. */
  slug: string;
  /** What lists of pages call it. */
  label: string;
  /** What it answers, in a sentence. */
  summary: string;
  /** Where its relative links start: a path in the repository. */
  file: string;
  /** The document for this relay, from its title on. */
  markdown(setting: Setting): string;
  /** Whether it is left out here; shown unless given. */
  isHidden?(setting: Setting): boolean;
}
