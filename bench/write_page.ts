/** Writes the last results into the marked section of docs/performance.md, and the picture beside it. */
import { lineCharts } from "./line_charts.ts";
import { growthCharts, pageText } from "./page_text.ts";
import type { Results } from "./result.ts";

const BEGIN = "<!-- measured: begin -->";
const END = "<!-- measured: end -->";
const page = new URL("../docs/performance.md", import.meta.url);
const picture = new URL("../docs/performance_growth.svg", import.meta.url);

export async function writePage(results: Results): Promise<void> {
  const text = await Deno.readTextFile(page);
  await Deno.writeTextFile(page, replaceSection(text, pageText(results)));
  if (results.growth !== undefined) {
    await Deno.writeTextFile(picture, lineCharts(growthCharts(results), 3));
  }
  console.log("written to docs/performance.md");
}

/** @throws Error where the page has no such section */
export function replaceSection(page: string, section: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no section from ${BEGIN} to ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${section}\n\n${page.slice(end)}`;
}
