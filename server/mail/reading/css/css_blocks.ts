/** The rules of a style sheet, with whether they hold. Pure; linear in its length. */
import { evaluateMedia, type MediaMatch } from "./media_queries.ts";

export interface Block {
  selectors: string;
  block: string;
  /** Whether it holds where mail is read. */
  holds: MediaMatch;
  /** Whether rules stand in it. */
  isNested: boolean;
}

/** At-rules that cannot hide text. */
const SKIPPED = /^@(?:-[a-z]+-)?(?:charset|counter-style|font-|keyframes|page|property|viewport)/i;

/** Selectors and declarations of the rules; inside at-rules also whether they hold. */
export function* blocksOf(css: string): Generator<Block> {
  // Braces, quotes, and the ends of statements such as @import.
  const marks = /[{};]|\\[^]|"(?:[^"\\\n]|\\[^])*(?:"|$)?|'(?:[^'\\\n]|\\[^])*(?:'|$)?/g;
  let start = 0;
  /** At-rules that are open, with whether what is in them holds. */
  const groups: MediaMatch[] = [];
  /** Braces that are open in a rule, or in an at-rule that is skipped. */
  let depth = 0;
  let selectors = "";
  let isNested = false;
  const holdsIn = (): MediaMatch => groups.at(-1) ?? "yes";
  function* rule(block: string): Generator<Block> {
    const holds = holdsIn();
    if (!SKIPPED.test(selectors) && holds !== "no") yield { selectors, block, holds, isNested };
    isNested = false;
  }
  for (const { 0: mark, index } of css.matchAll(marks)) {
    if (mark === "{") {
      if (depth > 0) {
        depth++;
        isNested = true;
        continue;
      }
      selectors = css.slice(start, index).trim();
      start = index + 1;
      if (selectors.startsWith("@") && !SKIPPED.test(selectors)) {
        groups.push(both(holdsIn(), holdingOf(selectors)));
      } else depth = 1;
    } else if (mark === "}") {
      if (depth === 1) yield* rule(css.slice(start, index));
      else if (depth === 0) groups.pop();
      depth = Math.max(0, depth - 1);
      if (depth === 0) start = index + 1;
    } else if (mark === ";" && depth === 0) {
      while (start < css.length && /\s/.test(css[start]!)) start++;
      if (css[start] === "@") start = index + 1;
    }
  }
  // Browsers close at the end what a sheet left open.
  if (depth === 1) yield* rule(css.slice(start));
}

function both(around: MediaMatch, own: MediaMatch): MediaMatch {
  if (around === "no" || own === "no") return "no";
  return around === "unsure" ? around : own;
}

function holdingOf(atRule: string): MediaMatch {
  const [, name, rest] = /^@([a-z-]{1,40})([^]*)$/i.exec(atRule) ?? [];
  if (name === undefined || rest === undefined) return "unsure";
  return name.toLowerCase() === "media" ? evaluateMedia(rest) : "unsure";
}
