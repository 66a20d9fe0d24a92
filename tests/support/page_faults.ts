/// <reference lib="dom" />
import assert from "node:assert/strict";
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** Brings axe into a page; its window has to be opened with bypassCSP, for axe is a script. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addScriptTag({ content: axe.source });
}

/** Asserts that axe finds no fault in a page as it stands, and that it fits its window's width. */
export async function expectNoFaults(page: Page): Promise<void> {
  const { faults, overflow } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } };
    const { violations } = await axe.run();
    return {
      faults: violations.map(({ id, nodes }) =>
        `${id}: ${nodes[0]!.html} ${nodes[0]!.failureSummary}`
      ),
      overflow: document.documentElement.scrollWidth - innerWidth,
    };
  });
  assert.deepEqual(faults, []);
  assert.ok(overflow <= 0, `${overflow} px too wide`);
}
