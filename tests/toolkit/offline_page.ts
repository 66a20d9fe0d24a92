import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { withPage } from "../support/chromium.ts";

/** The built page. */
export const PAGE_FILE = new URL("../../docs/verify.html", import.meta.url);

/** A window as narrow as a phone's. */
export const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 } };

/**
 * Opens the page from its file, does something there, and holds it to having printed nothing.
 *
 * @param fn is given what the page has asked for, itself included
 */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions,
  fn: (page: Page, requests: readonly string[]) => Promise<void>,
): Promise<void> {
  await withPage(browser, options, async (page) => {
    const requests: string[] = [];
    const faults: string[] = [];
    page.context().on("request", (request) => requests.push(request.url()));
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("console", (message) => faults.push(message.text()));
    await page.goto(PAGE_FILE.href);
    await fn(page, requests);
    assert.deepEqual(faults, []);
  });
}
