import { stripVTControlCharacters } from "node:util";
import type { Tally } from "./tally.ts";

const SUMMARY =
  /^(?:ok|FAILED) \| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \|.*)? \(.*\)$/gm;

/**
 * Reads one run of `deno test`.
 *
 * Counts come from the summary line, because the JUnit report leaves out modules that fail while
 * they load; the names of skipped tests come from the report, because the summary only counts them.
 * A run that ends badly without naming a failed test, or without a summary, counts as one failure.
 * @param output standard output and error of the run
 * @param junitXml the report of the same run; "" when there is none
 * @param exitCode exit code of the run
 */
export function parseDenoTest(output: string, junitXml: string, exitCode: number): Tally {
  const text = stripVTControlCharacters(output).replaceAll("\r\n", "\n");
  // The last one: a test may print a line of the same form.
  const summary = [...text.matchAll(SUMMARY)].at(-1);
  const passed = Number(summary?.[1] ?? 0);
  const failed = Number(summary?.[2] ?? 0);
  const endedBadly = exitCode !== 0 || summary === undefined;
  return {
    passed,
    failed: failed === 0 && endedBadly ? 1 : failed,
    skipped: skippedNames(junitXml),
  };
}

function skippedNames(junitXml: string): string[] {
  const cases = junitXml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped\s*\/>/g);
  return [...cases].map((match) => unescapeXml(match[1]!));
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(lt|gt|quot|apos|amp));/g,
    (_, hex, decimal, name) =>
      name !== undefined
        ? ENTITIES[name]!
        : String.fromCodePoint(hex !== undefined ? parseInt(hex, 16) : Number(decimal)),
  );
}
