/** Writes results into the marked section of docs/performance.md, and the picture beside it. */
import type { Joined } from "./join_runs.ts";
import { lineCharts } from "./line_charts.ts";
import { growthCharts, pageText } from "./page_text.ts";
import { allVerdicts } from "./verdicts.ts";

const BEGIN = "<!-- measured: begin -->";
const END = "<!-- measured: end -->";
const page = new URL("../docs/performance.md", import.meta.url);
const picture = new URL("../docs/performance_growth.svg", import.meta.url);

export async function writePage(results: Joined): Promise<void> {
  const text = replaceSection(await Deno.readTextFile(page), pageText(results));
  await Deno.writeTextFile(page, text);
  if (results.growth !== undefined) {
    await Deno.writeTextFile(picture, lineCharts(growthCharts(results), 3));
  }
  console.log("written to docs/performance.md");
  const silent = missedInSilence(text, results);
  if (silent.length > 0) {
    console.log(
      `"What bounds what" there says nothing yet of what was missed: ${silent.join(", ")}`,
    );
  }
}

/** Rows with a missed target that the page's part after the marks does not name. */
export function missedInSilence(page: string, results: Joined): string[] {
  const written = page.slice(page.indexOf(END));
  const missed = allVerdicts(results).filter(({ met }) => !met).map(({ id }) => id);
  return [...new Set(missed)].filter((id) => !written.includes(`\`${id}\``));
}

/** @throws Error where the page has no such section */
export function replaceSection(page: string, section: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`the page has no section from ${BEGIN} to ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${section}\n\n${page.slice(end)}`;
}
