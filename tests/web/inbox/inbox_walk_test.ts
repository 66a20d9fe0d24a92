/// <reference lib="dom" />
/** /inbox in a browser: both sizes, light and dark, by the keyboard, and without JavaScript. */
import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";
import { DESKTOP, LOOKS, PHONE } from "../pages/looks.ts";
import { watchPage } from "../pages/watch_page.ts";

async function makeInbox(
  relay: TestRelay,
): Promise<{ owner: TestAgent; sender: TestAgent; ids: number[] }> {
  const [owner, sender] = await registerAgents(relay, "invoice_clerk", "planner");
  const body = { lines: Array.from({ length: 200 }, (_, i) => `line ${i}`) };
  const ids = [
    await sender.sent({
      to: owner.address,
      body: { text: "Take the first.\n\nhttps://files.example/" },
    }),
    await sender.sent({ to: "invoice_clerk", body }),
    await sender.sent({ to: owner.address, body: `a\u202e${"long".repeat(300)}` }),
  ];
  relay.clock.advance(3_600_000);
  ids.push(await sender.sent({ to: owner.address, body: "Week 49 works." }));
  return { owner, sender, ids };
}

async function signIn(page: Page, relay: TestRelay, owner: TestAgent): Promise<void> {
  await page.goto(`${relay.url}/inbox`);
  await page.getByLabel("Your agent’s token").fill(owner.ownerToken);
  await page.getByRole("button", { name: "Open the inbox" }).click();
  await page.locator("a.row").first().waitFor({ state: "attached" });
}

/** Opens each inbox as a person does, in one browser window a look. */
const withInbox = (
  program: string,
  walk: (
    given: { browser: Browser; relay: TestRelay } & Awaited<ReturnType<typeof makeInbox>>,
  ) => Promise<void>,
) =>
  withChromium(program, async (browser) => {
    await using relay = await startTestRelay();
    await walk({ browser, relay, ...await makeInbox(relay) });
  });

partOrSkip(
  "chromium",
  "the pages of /inbox are free of faults in every look, fit their windows and ask no other host",
  (program) =>
    withInbox(program, async ({ browser, relay, owner, ids }) => {
      let looked = 0;
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const { urls, complaints } = watchPage(page);
          const check = async () => {
            await loadAxe(page);
            await expectNoFaults(page);
            looked++;
          };
          await page.goto(`${relay.url}/inbox`);
          await check();
          await page.getByLabel("Your agent’s token").fill("wrong");
          await page.keyboard.press("Enter");
          await page.getByText("No agent of this relay").waitFor();
          await check();
          await signIn(page, relay, owner);
          await check();
          for (const id of ids) {
            await page.goto(`${relay.url}/inbox/${id}`);
            await page.locator(".check-outcome.passed").waitFor();
            await page.locator("details:has(#message-json) > summary").click();
            await check();
          }
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
          assert.deepEqual(complaints, []);
        });
      }
      assert.equal(looked, 7 * LOOKS.length);
    }),
);

partOrSkip(
  "chromium",
  "the newest message stands beside the list at once, on a phone the list, and the check is the browser's",
  (program) =>
    withInbox(program, async ({ browser, relay, owner, sender, ids }) => {
      await withPage(browser, DESKTOP, async (page) => {
        await signIn(page, relay, owner);
        assert.equal(await page.title(), "(4) Inbox of @invoice_clerk - Relay");
        await page.locator(".pane .text", { hasText: "Week 49 works." }).waitFor();
        await page.locator(".check-outcome.passed", {
          hasText: "Whose key that is was not compared",
        }).waitFor();
        assert.equal(await page.locator(".verdicts li").count(), 6);
        const address = page.getByLabel("The sender’s address");
        await address.fill(sender.address);
        await page.getByRole("button", { name: "Compare" }).click();
        await page.locator(".check-outcome.passed", { hasText: "the sender that you named" })
          .waitFor();
        await address.fill(owner.address);
        await page.keyboard.press("Enter");
        await page.locator(".check-outcome.false").waitFor();
        await address.fill("no address");
        await page.keyboard.press("Enter");
        await page.locator(".check-outcome.malformed", { hasText: "is no address" }).waitFor();
        assert.equal(new URL(page.url()).search, "", "what was entered goes nowhere");
      });
      await withPage(browser, PHONE, async (page) => {
        await signIn(page, relay, owner);
        assert.ok(await page.locator("a.row").first().isVisible());
        assert.ok(!await page.locator(".pane").isVisible());
        await page.locator("a.row").nth(1).click();
        await page.waitForURL(`${relay.url}/inbox/${ids[2]}`);
        assert.ok(!await page.locator("a.row").first().isVisible());
        await page.getByRole("link", { name: "Back to the list" }).click();
        await page.waitForURL(`${relay.url}/inbox`);
      });
    }),
);

partOrSkip(
  "chromium",
  "a message that the relay gave another body is called false by the browser",
  (program) =>
    withInbox(program, async ({ browser, relay, owner, ids }) => {
      await withPage(browser, DESKTOP, async (page) => {
        await signIn(page, relay, owner);
        await page.route("**/inbox/*", async (route) => {
          const answer = await route.fetch();
          const body = (await answer.text()).replaceAll("Week 49 works", "Week 50 works");
          await route.fulfill({ response: answer, body });
        });
        await page.goto(`${relay.url}/inbox/${ids[3]}`);
        await page.locator(".check-outcome.false").waitFor();
        await page.locator(".verdicts .false", { hasText: "Content hash" }).waitFor();
      });
    }),
);

partOrSkip(
  "chromium",
  "/inbox is used by the keyboard alone: in, down the list, into a message, out",
  (program) =>
    withInbox(program, async ({ browser, relay, owner, ids }) => {
      await withPage(browser, DESKTOP, async (page) => {
        await page.goto(`${relay.url}/inbox`);
        for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
        await page.keyboard.insertText(owner.ownerToken);
        await page.keyboard.press("Enter");
        await page.waitForURL(`${relay.url}/inbox`);
        await page.locator("a.row").first().waitFor();
        await page.keyboard.press("j");
        await page.keyboard.press("Enter");
        await page.waitForURL(`${relay.url}/inbox/${ids[2]}`);
        await page.keyboard.press("k");
        await page.keyboard.press("Enter");
        await page.waitForURL(`${relay.url}/inbox/${ids[3]}`);
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keys" }).waitFor();
        await page.keyboard.press("Escape");
        await page.locator("summary", { hasText: "@invoice_clerk" }).focus();
        await page.keyboard.press("Enter");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByLabel("Your agent’s token").waitFor();
        await page.goto(`${relay.url}/inbox/${ids[3]}`);
        await page.getByLabel("Your agent’s token").waitFor();
      });
    }),
);

partOrSkip(
  "chromium",
  "without JavaScript /inbox shows the message, says that nothing was checked, and how to check it",
  (program) =>
    withInbox(program, async ({ browser, relay, owner, ids }) => {
      await withPage(browser, { ...PHONE, javaScriptEnabled: false }, async (page) => {
        const { complaints } = watchPage(page);
        await signIn(page, relay, owner);
        await page.locator("a.row").first().click();
        await page.locator(".pane .text", { hasText: "Week 49 works." }).waitFor();
        await page.getByText("Not checked: that is done by the script of this page").waitFor();
        assert.equal(await page.locator(".verdicts").count(), 0);
        assert.ok(!await page.getByRole("button", { name: "Compare" }).isVisible());
        await page.locator("summary", { hasText: "Check it yourself" }).click();
        await page.getByText(`relay verify message_${ids[3]}.json`).waitFor();
        const saved = page.waitForEvent("download");
        await page.getByRole("link", { name: "Save the message" }).click();
        assert.equal((await saved).suggestedFilename(), `message_${ids[3]}.json`);
        await page.locator("summary", { hasText: "@invoice_clerk" }).click();
        await page.getByRole("button", { name: "Sign out in every browser" }).click();
        await page.getByLabel("Your agent’s token").waitFor();
        assert.deepEqual(complaints, []);
      });
    }),
);
