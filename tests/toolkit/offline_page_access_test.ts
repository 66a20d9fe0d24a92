/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import messages from "../vectors/messages.json" with { type: "json" };
import { withChromium } from "../support/chromium.ts";
import { isLong } from "../support/long_test.ts";
import { expectNoFaults, loadAxe } from "../support/page_faults.ts";
import { partOrSkip } from "../support/part.ts";
import { openPage, PAGE_FILE, PHONE } from "./offline_page.ts";

partOrSkip(
  "chromium",
  "the offline page and its readers",
  (program, t) =>
    withChromium(program, async (browser) => {
      await t.step("says in words what was filled in wrongly, and where", () => errors(browser));
      await t.step("is used by keyboard alone", () => keyboard(browser));
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of isLong ? [320, 390, 1280] : [colorScheme === "light" ? 320 : 1280]) {
          await t.step(
            `is readable and accessible at ${width} px, ${colorScheme}`,
            () => accessible(browser, { viewport: { width, height: 844 }, colorScheme }),
          );
        }
      }
    }),
);

async function errors(browser: Browser): Promise<void> {
  const good = messages.cases[0]!.message as Record<string, unknown>;
  const { signature: _, ...unsigned } = good;
  const cases: [Record<string, string>, string, RegExp][] = [
    [{}, "message", /Paste a message/],
    [{ message: "{" }, "message", /not the JSON of a message/],
    [{ message: JSON.stringify(unsigned) }, "message", /signature is missing/],
    [{ message: JSON.stringify(good), from: "some_sender" }, "from", /is no address/],
    [{ message: JSON.stringify(good), address: "x" }, "address", /is no address/],
    [{ message: JSON.stringify(good), handle: "x" }, "address", /needs the recipient's address/],
    [{ message: JSON.stringify(good), maxSkew: "soon" }, "maxSkew", /number of seconds/],
  ];
  await openPage(browser, PHONE, async (page) => {
    for (const [fields, field, words] of cases) {
      await page.goto(PAGE_FILE.href); // as it was before the case
      assert.equal(await page.inputValue("#message"), "");
      await page.click("summary");
      for (const [id, text] of Object.entries(fields)) await page.fill(`#${id}`, text);
      await page.click("summary");
      await page.click("button.primary");
      await page.waitForSelector(`#${field}-error:visible`);
      assert.match(await page.innerText(`#${field}-error`), words);
      assert.equal(await page.getAttribute(`#${field}`, "aria-invalid"), "true");
      assert.match((await page.getAttribute(`#${field}`, "aria-describedby"))!, /-error$/);
      assert.equal(await focusedId(page), field);
      assert.equal(await page.locator(".result").count(), 0);
    }
  });
  await openPage(browser, PHONE, async (page) => {
    await page.fill("#message", JSON.stringify([good, unsigned, 5]));
    await page.click("button.primary");
    await page.waitForSelector(".result");
    assert.deepEqual(await page.locator("#results h3").allInnerTexts(), [
      "Message 7: Nothing is false, but the body is not bound to the signature",
      "Entry 2: not a message",
      "Entry 3: not a message",
    ]);
  });
}

async function keyboard(browser: Browser): Promise<void> {
  await openPage(browser, PHONE, async (page) => {
    const order: string[] = [];
    for (let i = 0; i < 7; i++) {
      await page.keyboard.press("Tab");
      order.push(await focusedId(page));
    }
    assert.deepEqual(order, ["message", "example", "altered", "from", "address", "", ""]);
    await page.focus("#example");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".result.passed");
    const heading = await page.evaluate(() => document.activeElement!.textContent);
    assert.equal(heading, "Verdicts");
  });
}

function focusedId(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement!.id);
}

async function accessible(browser: Browser, options: BrowserContextOptions): Promise<void> {
  await openPage(browser, { ...options, bypassCSP: true }, async (page) => {
    await loadAxe(page);
    const states: [string, string][] = [
      ["#example", ".result.passed"],
      ["#altered", ".result.false"],
    ];
    for (const [button, result] of states) {
      await page.click(button);
      await page.waitForSelector(result);
      await expectNoFaults(page);
    }
    await page.click("summary");
    await page.fill("#message", "{");
    await page.click("button.primary");
    await page.waitForSelector("#message-error:visible");
    await expectNoFaults(page);
  });
}
