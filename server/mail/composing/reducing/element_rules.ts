/** Which elements and attributes stay in a reduced HTML (docs/mail.md). Pure. */
const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** A line of their own; each ends a paragraph that is open. */
export const BLOCKS = names(
  "p div h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre hr table",
);
export const TABLE_PARTS = names("caption thead tbody tfoot tr td th");
export const SECTIONS = names("thead tbody tfoot");
export const CELLS = names("td th");
export const HEADINGS = names("h1 h2 h3 h4 h5 h6");
const INLINE = names("span a b strong i em u s small sub sup code");

/** Elements without content. */
export const SINGLE = names("br hr img");

/** Elements that are no text of their own: they are there in every whole document. */
export const UNNAMED = names("html head body");

/** What stands for an element that is taken out, where without it words would run together or mean less. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    `address article aside center details dialog dir fieldset figcaption figure footer form header
    hgroup legend listing main menu nav optgroup option plaintext search section summary xmp`
      .split(/\s+/).map((name) => [name, "div"]),
  ),
  del: "s",
  strike: "s",
  ins: "u",
};

/** The element that an element becomes: itself, what stands for it, or null for none. */
export function reducedName(name: string): string | null {
  if (BLOCKS.has(name) || INLINE.has(name) || TABLE_PARTS.has(name) || SINGLE.has(name)) {
    return name;
  }
  return Object.hasOwn(INSTEAD, name) ? INSTEAD[name]! : null;
}

/** How much larger or smaller than around it browsers set the text of an element. */
const FONT_FACTORS: Readonly<Record<string, number>> = {
  h1: 2,
  h2: 1.5,
  h3: 1.17,
  h5: 0.83,
  h6: 0.67,
  small: 1 / 1.2,
  sub: 1 / 1.2,
  sup: 1 / 1.2,
  code: 13 / 16,
  pre: 13 / 16,
};

export function fontFactor(name: string): number {
  return Object.hasOwn(FONT_FACTORS, name) ? FONT_FACTORS[name]! : 1;
}

/** Pixels that browsers indent an element's content by. */
export function indentOf(name: string): number {
  return /^(?:ul|ol|dd|blockquote)$/.test(name) ? 40 : 0;
}
