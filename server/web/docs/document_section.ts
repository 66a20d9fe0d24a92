/** Parts of a document by their headings of the second level. Pure. */

/**
 * One section as a document of its own, with its heading as the title.
 * @throws Error for a heading that is not there
 */
export function sectionOf(markdown: string, heading: string): string {
  const [, after] = cut(markdown, heading);
  const end = after.search(/^## /m);
  return `# ${heading}\n${end < 0 ? after : after.slice(0, end)}`.trimEnd() + "\n";
}

/** The document without one of its sections. @throws Error for a heading that is not there */
export function withoutSection(markdown: string, heading: string): string {
  const [before, after] = cut(markdown, heading);
  const end = after.search(/^## /m);
  return `${before.trimEnd()}\n${end < 0 ? "" : `\n${after.slice(end)}`}`;
}

function cut(markdown: string, heading: string): [before: string, after: string] {
  const line = `\n## ${heading}\n`;
  const at = markdown.indexOf(line);
  if (at < 0) throw new Error(`the document has no section "${heading}"`);
  return [markdown.slice(0, at), markdown.slice(at + line.length)];
}
