/** The fields of a received chain (ARC, RFC 8617) before anything is verified. Pure; linear. */
import { readTagList } from "./signature_tags.ts";

/** An ARC field of a message in its place. */
export interface ArcField {
  /** Lowercased. */
  name: string;
  /** Unfolded; a byte is a character. */
  value: string;
}

/** What one sealer added. */
export interface ArcSet {
  /** `d=` and `s=` of ARC-Seal, lowercased. */
  sealer: string;
  selector: string;
  /** The same of ARC-Message-Signature, its `h=`, and the form of the body. */
  signer: string;
  signerSelector: string;
  signedNames: readonly string[];
  bodyForm: "simple" | "relaxed";
  /** What ARC-Authentication-Results says, as it stands. */
  results: string;
}

export const ARC_NAMES = [
  "arc-seal",
  "arc-message-signature",
  "arc-authentication-results",
] as const;

/** RFC 8617 allows 50; each costs a look-up and a signature over all before it. */
const MAX_SETS = 10;
/** Longer values would take the library time that grows with the square of their length. */
const MAX_VALUE_CHARACTERS = 4_096;
const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * The sets of a chain, the first sealer's first.
 * @returns null for what is no whole chain of this form, or longer than is looked at
 */
export function readArcChain(fields: readonly ArcField[]): ArcSet[] | null {
  if (fields.length % 3 !== 0 || fields.length > 3 * MAX_SETS) return null;
  const values = new Map<string, string>();
  for (const { name, value } of fields) {
    const instance = /(?:^|;)\s*i\s*=\s*([1-9][0-9]?)\s*(?:;|$)/.exec(value.slice(0, 300))?.[1];
    const place = `${name} ${instance}`;
    if (value.length > MAX_VALUE_CHARACTERS || instance === undefined || values.has(place)) {
      return null;
    }
    values.set(place, value);
  }
  const sets: ArcSet[] = [];
  for (let instance = 1; instance <= fields.length / 3; instance++) {
    const [seal, signature, results] = ARC_NAMES.map((name) => values.get(`${name} ${instance}`));
    const set = readSet(seal, signature, results);
    if (set === null) return null;
    sets.push(set);
  }
  return sets;
}

function readSet(seal = "", signature = "", results?: string): ArcSet | null {
  const [sealTags, tags] = [readTagList(seal), readTagList(signature)];
  if (sealTags === null || tags === null || results === undefined) return null;
  const named = (list: ReadonlyMap<string, string>, tag: string) =>
    list.get(tag)?.toLowerCase() ?? "";
  const form = /^(?:simple|relaxed)(?:\/(simple|relaxed))?$/.exec(
    named(tags, "c") || "relaxed/relaxed",
  );
  const signedNames = named(tags, "h").split(":");
  const set = {
    sealer: named(sealTags, "d"),
    selector: named(sealTags, "s"),
    signer: named(tags, "d"),
    signerSelector: named(tags, "s"),
    signedNames,
    bodyForm: form?.[1] === "relaxed" ? "relaxed" : "simple",
    results,
  } as const;
  // A signature that leaves out From, or the end of the body, does not hold the mail together.
  const isWhole = form !== null && signedNames.includes("from") && !tags.has("l");
  const names = [set.sealer, set.selector, set.signer, set.signerSelector];
  return isWhole && names.every((name) => NAME.test(name)) ? set : null;
}

/**
 * Domain of From for which a sealer says that DMARC passed; null where it does not say it once, and
 * plainly. Strangers chose what stands in comments and quotes: those are left out.
 * @param results value of ARC-Authentication-Results
 */
export function dmarcPassIn(results: string): string | null {
  const parts = plainOf(results)?.split(";").filter((part) => /^\s*dmarc\s*=/i.test(part)) ?? [];
  if (parts.length !== 1) return null;
  const [part] = parts;
  if (!/^\s*dmarc\s*=\s*pass(?:\s|$)/i.test(part!)) return null;
  const domains = [...part!.matchAll(/\sheader\.from\s*=\s*([^\s;=]+)/gi)];
  return domains.length === 1 ? domains[0]![1]!.toLowerCase() : null;
}

/** Without comments and quoted strings; null where one never ends. */
function plainOf(text: string): string | null {
  let [plain, depth, isQuoted] = ["", 0, false];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === "\\" && (isQuoted || depth > 0)) i++;
    else if (isQuoted) isQuoted = character !== '"';
    else if (character === '"' && depth === 0) isQuoted = true;
    else if (character === "(") depth++;
    else if (character === ")" && depth > 0) depth--;
    else if (depth === 0) plain += character;
  }
  return depth === 0 && !isQuoted ? plain : null;
}
