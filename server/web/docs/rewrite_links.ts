/** The links of a document, for where it is read. Pure. */

/** A link as it is to stand, or null for its text alone. */
export type RewriteLink = (href: string, text: string) => { href: string; text: string } | null;

const FENCES = /^(```[^]*?^```)$/m;
/** A piece of code, or an inline link, whose text may hold code. */
const LINK = /(`[^`\n]*`)|\[((?:[^[\]`]|`[^`\n]*`)*)\]\(([^()\s]+)\)/g;

/** The document with every inline link rewritten; what stands in code stays. */
export function rewriteLinks(markdown: string, rewrite: RewriteLink): string {
  return markdown.split(FENCES).map((part) =>
    part.startsWith("```")
      ? part
      : part.replace(LINK, (whole, code?: string, text?: string, href?: string) => {
        if (code !== undefined) return whole;
        const link = rewrite(href!, text!);
        return link === null ? text! : `[${link.text}](${link.href})`;
      })
  ).join("");
}
