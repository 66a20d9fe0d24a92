/** What was taken out of an HTML, as short names (docs/mail.md, "HTML that a person approves"). */

/** Kinds of what is named as a whole. */
export type RemovedKind =
  | "comments"
  | "hidden_text"
  | "invisible_characters"
  | "links"
  | "nesting"
  | "pictures"
  | "remote_pictures"
  | "style_sheets"
  | "wide_gaps";

export interface RemovedNames {
  add(kind: RemovedKind): void;
  /** @param name lowercased, as somebody wrote it */
  addNamed(kind: "element" | "attribute" | "style", name: string): void;
  /** Sorted, each once. */
  list(): string[];
}

/** The names of a draft stand in its row. */
const MOST_NAMES = 50;
/** Other names are of no use to a reader: somebody made them up. */
const KNOWN_FORM = /^[a-z][a-z0-9-]{0,29}$/;

export function removedNames(): RemovedNames {
  const names = new Set<string>();
  const keep = (name: string) => {
    if (names.size < MOST_NAMES) names.add(name);
    else if (!names.has(name)) names.add("more");
  };
  return {
    add: keep,
    addNamed: (kind, name) => keep(`${kind}:${KNOWN_FORM.test(name) ? name : "other"}`),
    list: () => [...names].sort(),
  };
}

/** The names of two reductions of one HTML, one after the other. */
export function joinNames(former: readonly string[], next: readonly string[]): string[] {
  return [...new Set([...former, ...next])].sort().slice(0, MOST_NAMES + 1);
}
