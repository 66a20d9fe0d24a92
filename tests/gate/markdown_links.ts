import { posix } from "node:path";
import type { SourceFile } from "./text_rules.ts";

/** Relative links of Markdown pages that lead to no file of the project, or to no heading of it. */
export function findDeadLinks(
  pages: readonly SourceFile[],
  files: ReadonlySet<string>,
): string[] {
  const headings = new Map(pages.map(({ path, text }) => [path, headingAnchors(text)]));
  const folders = new Set([...files].flatMap(foldersAbove));
  const faults: string[] = [];
  for (const { path, text } of pages) {
    for (const target of relativeLinks(text)) {
      const [file = "", anchor] = target.split("#");
      const resolved = file === "" ? path : posix.join(posix.dirname(path), decodeURI(file));
      const place = resolved.replace(/\/$/, "");
      if (!files.has(place) && !folders.has(place)) {
        faults.push(`${path}: ${target} leads to no file of the project`);
      } else if (anchor !== undefined && headings.get(place)?.has(anchor) === false) {
        faults.push(`${path}: ${target} leads to no heading`);
      }
    }
  }
  return faults;
}

function relativeLinks(markdown: string): string[] {
  const text = withoutCode(markdown);
  const inline = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]:\s*<?([^\s>]+)>?/gm)];
  return [...inline, ...references]
    .map((match) => match[1]!)
    .filter((target) => !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(target));
}

function withoutCode(markdown: string): string {
  return markdown
    .replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2[`~]*\s*$/gm, "")
    .replace(/`[^`\n]*`/g, "");
}

/** Anchors as code hosts make them: lower case, punctuation gone, spaces as hyphens. */
function headingAnchors(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const text = markdown.replace(/^( *)(```+|~~~+)[\s\S]*?^\1\2[`~]*\s*$/gm, "");
  for (const [, title] of text.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const base = title!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    let anchor = base;
    for (let number = 1; anchors.has(anchor); number++) anchor = `${base}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
