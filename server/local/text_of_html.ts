/** The words of an HTML part, for a reader of captured mail. Pure; linear in its length. */

/** Elements of which nothing is read. */
const SKIPPED = new Set(["head", "script", "style", "template", "title"]);
/** Elements that begin a line. */
const LINES = new Set(["address", "blockquote", "br", "div", "dd", "dt", "hr", "li", "p", "pre"])
  .union(new Set(["h1", "h2", "h3", "h4", "h5", "h6", "ol", "table", "td", "th", "tr", "ul"]));
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  lt: "<",
  nbsp: " ",
  quot: '"',
};

/** What stands between the tags: good enough to read, and no more than text for whoever shows it. */
export function textOfHtml(html: string): string {
  const parts: string[] = [];
  let skipped: string | null = null;
  for (const [i, piece] of html.split("<").entries()) {
    const end = i === 0 ? -1 : piece.indexOf(">");
    const name = /^\/?([a-z][a-z0-9]*)/i.exec(i === 0 ? "" : piece)?.[1]?.toLowerCase();
    if (skipped !== null) {
      if (name !== skipped || !piece.startsWith("/")) continue;
      skipped = null;
    } else if (name !== undefined && SKIPPED.has(name) && !piece.startsWith("/")) {
      skipped = name;
      continue;
    }
    if (name !== undefined && LINES.has(name)) parts.push("\n");
    if (i === 0 || end >= 0) parts.push(piece.slice(end + 1).replaceAll(/\s+/g, " "));
  }
  return parts.join("").replaceAll(/&(?:#([0-9]{1,7})|([a-z]{1,6}));/gi, decode)
    .split("\n").map((line) => line.replaceAll(/ {2,}/g, " ").trim()).filter((line) => line !== "")
    .join("\n");
}

function decode(whole: string, number: string | undefined, name: string | undefined): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = Number(number);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
