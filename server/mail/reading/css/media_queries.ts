/** Whether the styles of a media query hold where somebody reads a mail: on a screen. Pure; linear. */
import { MEDIUM_PX, toPx } from "./css_lengths.ts";

/** Whether styles hold; unsure where that depends on what cannot be known. */
export type MediaMatch = "yes" | "no" | "unsure";

/** The window of a mail program on a desk: narrower ones are telephones. */
const WINDOW_PX = 1_000;
/** Windows are between these wide. */
const WIDEST_PX = 4_000;
/** Known features with a word as their value. */
const WORDS: Readonly<Record<string, Readonly<Record<string, MediaMatch>>>> = {
  "prefers-color-scheme": { light: "yes", dark: "no" },
  "prefers-reduced-motion": { "no-preference": "yes", reduce: "no" },
  "-ms-high-contrast": { active: "no", none: "no" },
  orientation: { landscape: "yes", portrait: "no" },
  hover: { hover: "yes", none: "no" },
  pointer: { fine: "yes", coarse: "no", none: "no" },
  grid: { "0": "yes", "1": "no" },
};
/** Longer queries say nothing. */
const MAX_QUERY_CHARACTERS = 1_000;
const MAX_QUERIES = 50;

/** @param given what stands behind `@media`, or in the attribute `media` */
export function evaluateMedia(given: string): MediaMatch {
  if (given.length > MAX_QUERY_CHARACTERS) return "unsure";
  const queries = given.toLowerCase().split(",", MAX_QUERIES).map((query) => query.trim());
  const found = queries.map(evaluateQuery);
  if (found.includes("yes")) return "yes";
  return found.includes("unsure") ? "unsure" : "no";
}

function evaluateQuery(query: string): MediaMatch {
  const [, prefix, type, rest] =
    /^(?:(not|only)\s+)?([a-z-]{1,20}(?![a-z(-]))?\s*(?:and\b)?\s*(.*)$/s.exec(query) ?? [];
  if (rest === undefined) return "unsure";
  let holds = type === undefined || type === "screen" || type === "all"
    ? "yes"
    : "no" as MediaMatch;
  if (rest !== "") {
    for (const feature of rest.split(/\band\b/)) {
      const one = evaluateFeature(feature.trim());
      if (one === "no" || holds === "no") holds = "no";
      else if (one === "unsure") holds = "unsure";
    }
  }
  if (prefix !== "not" || holds === "unsure") return holds;
  return holds === "yes" ? "no" : "yes";
}

function evaluateFeature(feature: string): MediaMatch {
  const [, name, value] = /^\(\s*([a-z-]{1,40})\s*(?::\s*([^()]{1,60}?)\s*)?\)$/.exec(feature) ??
    [];
  if (name === undefined) return "unsure";
  if (value === undefined) return name === "color" ? "yes" : "unsure";
  if (Object.hasOwn(WORDS, name)) return WORDS[name]![value] ?? "unsure";
  const [, bound] = /^(min|max)-(?:device-)?(?:width|height)$/.exec(name) ?? [];
  const px = toPx(value, MEDIUM_PX);
  if (bound === undefined || px === undefined) return "unsure";
  if (bound === "min") return px <= WINDOW_PX ? "yes" : px > WIDEST_PX ? "no" : "unsure";
  return px < WINDOW_PX ? "no" : px >= WIDEST_PX ? "yes" : "unsure";
}
