/// <reference lib="dom" />
/** Pages that bring themselves up to date: by the script, and without it by loading again. */
import assert from "node:assert/strict";
import type { Page, Response } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { DESKTOP } from "./looks.ts";
import { watchPage } from "./watch_page.ts";

/** Lets the page's own clock reach its next look, and waits for the answer. */
async function nextLook(page: Page): Promise<Response> {
  const answered = page.waitForResponse((answer) => answer.request().resourceType() === "fetch");
  await page.clock.runFor(5_000);
  const answer = await answered;
  // Behind what the script had to do with it.
  await page.evaluate(async () => await (await fetch("/health")).text());
  return answer;
}

const shown = (page: Page) => page.locator("#feed li").count();

partOrSkip(
  "chromium",
  "the network page replaces what changed, and nothing else",
  async (program) => {
    await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 100 } });
    const [alice] = await registerAgents(relay, "alice", "bob");
    await alice.sent({ to: "bob", body: 1 });
    await withChromium(program, async (browser) => {
      await withPage(browser, DESKTOP, async (page) => {
        const { urls, complaints } = watchPage(page);
        await page.clock.install();
        await page.goto(`${relay.url}/network`);
        await page.evaluate(() => {
          for (const id of ["feed", "figures", "leaders"]) {
            (document.getElementById(id) as HTMLElement & { mark: number }).mark = 1;
          }
        });
        const marked = () =>
          page.evaluate(() =>
            ["feed", "figures", "leaders"].filter((id) =>
              (document.getElementById(id) as HTMLElement & { mark?: number }).mark === 1
            )
          );
        assert.equal((await nextLook(page)).status(), 200, "the first look has no tag yet");
        assert.deepEqual(await marked(), ["feed", "figures", "leaders"]);
        assert.equal((await nextLook(page)).status(), 304);

        await alice.sent({ to: "bob", body: 2 });
        relay.clock.advance(1_000);
        await nextLook(page);
        await page.locator("#feed li").nth(1).waitFor();
        assert.deepEqual(await marked(), []);
        assert.equal((await nextLook(page)).status(), 304);
        assert.equal(page.url(), `${relay.url}/network`);

        // What somebody uses stays until they leave it.
        await page.locator("#feed a").first().focus();
        await alice.sent({ to: "bob", body: 3 });
        relay.clock.advance(1_000);
        await nextLook(page);
        await page.locator("#figures", { hasText: "3" }).waitFor();
        assert.equal(await shown(page), 2);
        await page.locator("#feed a").first().blur();
        assert.equal((await nextLook(page)).status(), 200);
        await page.locator("#feed li").nth(2).waitFor();

        await page.getByRole("button", { name: "Pause" }).click();
        await page.getByText("Paused.").waitFor();
        const asked = urls.length;
        await page.clock.runFor(60_000);
        assert.equal(urls.length, asked);
        await page.getByRole("button", { name: "Go on" }).click();
        await page.getByText("Live.").waitFor();

        // Away and back again, by the browser's own buttons.
        await page.getByRole("link", { name: "@alice" }).first().click();
        await page.goBack();
        await page.getByRole("heading", { name: "Network" }).waitFor();
        await nextLook(page);
        assert.deepEqual(complaints, []);
      });
    });
  },
);

partOrSkip("chromium", "a page that nobody looks at asks for nothing", async (program) => {
  await using relay = await startTestRelay();
  await withChromium(program, async (browser) => {
    await withPage(browser, DESKTOP, async (page) => {
      const { urls } = watchPage(page);
      await page.clock.install();
      await page.goto(relay.url);
      const hide = (isHidden: boolean) =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }, isHidden);
      await nextLook(page);
      await hide(true);
      const asked = urls.length;
      await page.clock.runFor(60_000);
      assert.equal(urls.length, asked);
      const answered = page.waitForResponse((answer) =>
        answer.request().resourceType() === "fetch"
      );
      await hide(false);
      assert.equal((await answered).status(), 304, "at once, when it is looked at again");
    });
  });
});

partOrSkip(
  "chromium",
  "a page whose relay is away says so, and goes on by itself",
  async (program) => {
    await using relay = await startTestRelay();
    await withChromium(program, async (browser) => {
      await withPage(browser, DESKTOP, async (page) => {
        await page.clock.install();
        await page.goto(relay.url);
        await page.context().setOffline(true);
        await page.clock.runFor(5_000);
        await page.getByText("No answer; trying again.").waitFor();
        await page.context().setOffline(false);
        await nextLook(page);
        await page.getByText("Live.").waitFor();
      });
    });
  },
);

partOrSkip(
  "chromium",
  "without JavaScript a page loads itself anew, and is stopped by a link",
  async (program) => {
    await using relay = await startTestRelay();
    const [alice] = await registerAgents(relay, "alice", "bob");
    await withChromium(program, async (browser) => {
      await withPage(browser, { ...DESKTOP, javaScriptEnabled: false }, async (page) => {
        await page.goto(`${relay.url}/network`);
        await page.getByRole("link", { name: "Load this page anew every 10 s" }).click();
        assert.equal(page.url(), `${relay.url}/network?live=10`);
        await page.route("**/network?live=10", async (route) => {
          const answer = await route.fetch();
          assert.equal(answer.headers()["refresh"], "10");
          await alice.sent({ to: "bob", body: 1 });
          relay.clock.advance(1_000);
          // At once: a test does not wait for ten seconds.
          await route.fulfill({ response: answer, headers: { ...answer.headers(), refresh: "0" } });
        }, { times: 1 });
        await page.reload();
        await page.locator("#feed li").first().waitFor();
        await page.goto(`${relay.url}/network?live=10`);
        await page.getByRole("link", { name: "Pause" }).click();
        assert.equal(page.url(), `${relay.url}/network`);
        assert.equal((await page.reload())!.headers()["refresh"], undefined);
      });
    });
  },
);
