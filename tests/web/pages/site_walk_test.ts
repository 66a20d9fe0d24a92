/// <reference lib="dom" />
/** Start page, network and agents in a browser: every look, with and without JavaScript. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import { isLong } from "../../support/long_test.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { DESKTOP, LOOKS, PHONE } from "./looks.ts";
import { watchPage } from "./watch_page.ts";

const LONG_HANDLE = "a_very_long_handle_of_32_letters";
const MARKUP =
  `</p><script>document.title = "run"</script><img src=x onerror="document.title='run'">`;

/** A relay with agents that say what they like, and a week of messages. */
async function startSite(limits = {}): Promise<{ relay: TestRelay; alice: TestAgent }> {
  const relay = await startTestRelay({
    limits: { registrationsPerIpPerHour: 500, sendsPerAgentPerMinute: 1_000, ...limits },
    config: { operatorContact: "mailto:operator@example.org" },
  });
  const alice = await registerAgent(relay, "alice", {
    profile: { display_name: "Alice", description: "Translates.", tags: ["translation"] },
  });
  await registerAgent(relay, LONG_HANDLE, {
    profile: {
      display_name: "x".repeat(100),
      description: "y".repeat(500),
      tags: ["z".repeat(32), "translation"],
    },
  });
  await registerAgent(relay, "hostile", {
    profile: {
      display_name: MARKUP.slice(0, 60),
      description: `${MARKUP} \u00ad https://x.example/`,
    },
  });
  for (let i = 0; i < 60; i++) {
    await alice.sent({ to: i % 3 === 0 ? LONG_HANDLE : "hostile", body: i });
    relay.clock.advance(3 * 3_600_000);
  }
  return { relay, alice };
}

async function openEverything(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
}

partOrSkip(
  "chromium",
  "start page, network and agents are free of faults in every look, and ask no other host",
  async (program) => {
    const { relay } = await startSite({ searchesPerIpPerMinute: LOOKS.length });
    await using _ = relay;
    await using empty = await startTestRelay();
    const urls = [
      ...["/", "/network"].map((path) => empty.url + path),
      ...["/", "/?live=10", "/network", "/network?live=10", "/network?before_id=9007199254740991"]
        .map((path) => relay.url + path),
      ...["/agents", "/agents/alice", "/agents/hostile", `/agents/${LONG_HANDLE}`, "/agents/nobody"]
        .map((path) => relay.url + path),
      ...["/agents?q=a", "/agents?tags=%3C", "/contact"].map((path) => relay.url + path),
    ];
    await withChromium(program, async (browser) => {
      let tooMany = 0;
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const { urls: asked, complaints } = watchPage(page);
          for (const url of [...urls, `${relay.url}/agents?q=alice`]) {
            const answer = await page.goto(url);
            if (answer!.status() === 429) tooMany++;
            await openEverything(page);
            await loadAxe(page);
            await expectNoFaults(page);
          }
          await page.emulateMedia({ media: "print" });
          await page.goto(`${relay.url}/network`);
          await loadAxe(page);
          await expectNoFaults(page);
          const own = (url: string) => [relay, empty].some((one) => url.startsWith(`${one.url}/`));
          assert.deepEqual(asked.filter((url) => !own(url)), []);
          assert.deepEqual(complaints, []);
        });
      }
      assert.ok(tooMany >= LOOKS.length, "the refusal of a search was looked at, too");
    });
  },
);

partOrSkip(
  "chromium",
  "a person walks from the start page to an agent and back, with and without JavaScript",
  async (program) => {
    const { relay } = await startSite();
    await using _ = relay;
    const sizes = {
      true: isLong ? [PHONE, DESKTOP] : [PHONE],
      false: isLong ? [DESKTOP, PHONE] : [DESKTOP],
    };
    assert.ok(sizes.true.length > 0 && sizes.false.length > 0);
    await withChromium(program, async (browser) => {
      for (const javaScriptEnabled of [true, false]) {
        for (const size of sizes[`${javaScriptEnabled}`]) {
          await withPage(browser, { ...size, javaScriptEnabled }, async (page) => {
            const { urls, complaints } = watchPage(page);
            const pathNow = () => page.url().slice(relay.url.length);
            await page.goto(relay.url);
            await page.getByText("curl", { exact: true }).click();
            await page.getByText("Keep this token").waitFor();
            await page.getByRole("link", { name: "Network", exact: true }).click();
            assert.equal(pathNow(), "/network");
            await page.getByRole("link", { name: "Older" }).click();
            assert.match(pathNow(), /^\/network\?before_id=\d+$/);
            await page.getByRole("link", { name: "@alice" }).first().click();
            assert.equal(pathNow(), "/agents/alice");
            await page.getByText("holds its own key").waitFor();
            await page.getByRole("link", { name: "translation" }).click();
            assert.equal(pathNow(), "/agents?tags=translation");
            assert.equal(await page.locator("a.handle").count(), 2);
            await page.getByLabel("Name or description").fill("lice");
            await page.keyboard.press("Enter");
            await page.waitForURL(`${relay.url}/agents?q=lice&tags=translation`);
            assert.equal(await page.locator("a.handle").count(), 1);
            await page.goBack();
            assert.equal(await page.getByLabel("Tags").first().inputValue(), "translation");
            await page.goBack();
            await page.getByRole("heading", { name: "@alice" }).waitFor();
            await page.goForward();
            assert.equal(await page.locator("a.handle").count(), 2);
            await page.goto(`${relay.url}/agents/ALICE`);
            assert.equal(pathNow(), "/agents/alice");
            await page.goto(`${relay.url}/agents/nobody_here`);
            await page.getByRole("button", { name: "Search" }).click();
            assert.equal(pathNow(), "/agents?q=nobody_here&tags=");
            await page.getByRole("link", { name: "See all" }).click();
            assert.equal(await page.locator("a.handle").count(), 3);
            await page.getByRole("link", { name: "Who runs this relay" }).click();
            await page.getByRole("link", { name: "operator@example.org" }).waitFor();
            assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
            assert.deepEqual(complaints, []);
          });
        }
      }
    });
  },
);

partOrSkip(
  "chromium",
  "what agents say of themselves stays text, and an address is whole to the clipboard",
  async (program) => {
    const { relay, alice } = await startSite();
    await using _ = relay;
    await withChromium(program, async (browser) => {
      await withPage(browser, { ...PHONE, bypassCSP: true }, async (page) => {
        const { complaints } = watchPage(page);
        for (const path of ["/agents", "/agents/hostile"]) {
          await page.goto(relay.url + path);
          const said = page.locator("bdi", { hasText: "https://x.example/" });
          assert.equal(await said.innerText(), `${MARKUP} \\u{ad} https://x.example/`);
          assert.equal(await page.locator("main img, main script, bdi a, bdi *").count(), 0);
          assert.doesNotMatch(await page.title(), /run/);
        }
        await page.goto(`${relay.url}/agents?q=alice`);
        const address = page.locator("code.cut");
        const { shown, whole } = await address.evaluate((one) => ({
          shown: one.clientWidth,
          whole: one.scrollWidth,
        }));
        assert.ok(shown < whole, "it is cut off to the eye");
        await address.click();
        assert.equal(await page.evaluate(() => String(getSelection()).trim()), alice.address);
        assert.deepEqual(complaints, []);
      });
    });
  },
);
