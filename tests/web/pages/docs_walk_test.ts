/// <reference lib="dom" />
/** Documentation, verifier and the operator's pages in a browser, in every look. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { startMailRelay } from "../../support/mail_relay.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { LOOKS, PHONE } from "./looks.ts";

const ADDRESS = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";

/** What a page asks for, and its complaints, except about being a refusal itself. */
function watch(page: Page) {
  const urls: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => void urls.push(request.url()));
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    if (/status of 4\d\d/.test(message.text())) return;
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  return {
    assertQuiet(own: string) {
      assert.ok(urls.length > 0);
      assert.deepEqual(urls.filter((url) => !url.startsWith(`${own}/`) && url !== "data:,"), []);
      assert.deepEqual(complaints, []);
    },
  };
}

partOrSkip(
  "chromium",
  "the documentation is free of faults in every look, and asks no other host",
  async (program) => {
    await using relay = await startMailRelay();
    assert.ok(LOOKS.length >= 2);
    const paths = [
      "/docs",
      "/docs/start",
      "/docs/verify",
      "/docs/mcp",
      "/docs/operate",
      "/docs/limits",
      "/docs/reference",
      "/docs/reference/sendMessage",
      "/docs/reference/readInbox",
    ];
    await withChromium(program, async (browser) => {
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const watched = watch(page);
          for (const path of paths) {
            await page.goto(relay.url + path);
            await loadAxe(page);
            await expectNoFaults(page);
          }
          watched.assertQuiet(relay.url);
        });
      }
    });
  },
);

partOrSkip(
  "chromium",
  "a reader goes from guide to guide with and without JavaScript, and copies code with it",
  async (program) => {
    await using relay = await startTestRelay();
    await withChromium(program, async (browser) => {
      for (const javaScriptEnabled of [true, false]) {
        const permissions = ["clipboard-read", "clipboard-write"];
        await withPage(browser, { ...PHONE, javaScriptEnabled, permissions }, async (page) => {
          const watched = watch(page);
          await page.goto(`${relay.url}/docs`);
          await page.getByRole("link", { name: "All pages" }).click();
          const all = page.getByRole("navigation", { name: "Documentation" });
          await all.getByRole("link", { name: "Start" }).click();
          assert.equal(new URL(page.url()).pathname, "/docs/start");
          assert.equal(await page.locator("h1").innerText(), "Start");
          assert.equal(await all.locator('[aria-current="page"]').innerText(), "Start");
          const copies = page.getByRole("button", { name: "Copy" });
          assert.equal(
            await copies.count(),
            javaScriptEnabled ? await page.locator("pre").count() : 0,
          );
          if (javaScriptEnabled) {
            await copies.first().click();
            await page.getByRole("button", { name: "Copied" }).waitFor();
            const copied = await page.evaluate(() => navigator.clipboard.readText());
            assert.match(
              copied,
              /^# The relay makes a key.*\nRELAY=http:\/\/127\.0\.0\.1:\d+\nHANDLE=/,
            );
            assert.doesNotMatch(copied, /Copy|\n$/);
          }
          await all.getByRole("link", { name: "Messages", exact: true }).click();
          await page.getByRole("link", { name: "Send a message" }).first().click();
          await page.getByText("Errors that most routes share").click();
          await page.locator("details code", { hasText: "request_timeout" }).waitFor();
          watched.assertQuiet(relay.url);
        });
      }
    });
  },
);

partOrSkip(
  "chromium",
  "/verify checks a message, takes the sender from the fragment, and gives the file as it is",
  async (program) => {
    await using relay = await startTestRelay();
    const kept = await Deno.readFile(new URL("../../../docs/verify.html", import.meta.url));
    await withChromium(program, async (browser) => {
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const watched = watch(page);
          await page.goto(`${relay.url}/verify`);
          await page.frameLocator("iframe").locator("#example").waitFor();
          await loadAxe(page);
          await expectNoFaults(page);
          watched.assertQuiet(relay.url);
        });
      }
      await withPage(browser, { ...PHONE, acceptDownloads: true }, async (page) => {
        const watched = watch(page);
        await page.goto(`${relay.url}/verify#from=${ADDRESS}`);
        const inner = page.frameLocator("iframe");
        const from = inner.locator("#from");
        await inner.getByText("Filled in by the link").waitFor();
        assert.equal(await from.inputValue(), ADDRESS);
        const fits = () =>
          page.evaluate(() => {
            const root = document.querySelector("iframe")!.contentDocument!.documentElement;
            return root.scrollHeight <= document.querySelector("iframe")!.clientHeight + 1;
          });
        await page.waitForFunction(() => document.querySelector("iframe")!.height !== "900");
        assert.ok(await fits());
        await inner.locator("#altered").click();
        await inner.locator(".result.false").waitFor();
        await page.waitForFunction(() => {
          const frame = document.querySelector("iframe")!;
          return frame.contentDocument!.documentElement.scrollHeight <= frame.clientHeight + 1;
        });
        const downloading = page.waitForEvent("download");
        await page.getByRole("link", { name: "Save the file" }).click();
        const download = await downloading;
        assert.equal(download.suggestedFilename(), "verify.html");
        const saved = await Deno.readFile((await download.path())!);
        assert.deepEqual(saved, kept);
        await page.getByText("SHA-256 of the file").click();
        const digest = createHash("sha256").update(kept).digest("hex");
        await page.getByText(digest).waitFor();
        watched.assertQuiet(relay.url);
      });
    });
  },
);

partOrSkip(
  "chromium",
  "an operator signs in, bans with a reason, lifts the ban and signs out, in every look",
  async (program) => {
    assert.ok(LOOKS.length >= 2);
    for (const [index, look] of LOOKS.entries()) {
      await using relay = await startTestRelay({ config: { adminToken: ADMIN_TOKEN } });
      const [alice] = await registerAgents(relay, "alice", "bob_1");
      relay.relay.log("some_event", { note: `<img src=x onerror=alert(1)> ${"x".repeat(300)}` });
      await withChromium(program, async (browser) => {
        const javaScriptEnabled = index % 2 === 0;
        const options = { ...look, javaScriptEnabled, bypassCSP: javaScriptEnabled };
        await withPage(browser, options, async (page) => {
          const watched = watch(page);
          const check = async () => {
            if (!javaScriptEnabled) return;
            await loadAxe(page);
            await expectNoFaults(page);
          };
          await page.goto(`${relay.url}/admin`);
          await check();
          await page.getByLabel("Admin token").fill("wrong");
          await page.getByRole("button", { name: "Sign in" }).click();
          await page.getByText("This is not the token").waitFor();
          await check();
          await page.getByLabel("Admin token").fill(ADMIN_TOKEN);
          await page.getByRole("button", { name: "Sign in" }).click();
          await page.getByRole("heading", { name: "Health" }).waitFor();
          assert.equal(page.url(), `${relay.url}/admin`);
          await check();
          await page.getByLabel("Handle").fill("@alice");
          await page.getByLabel("Reason").fill("sends <spam>");
          await page.getByRole("button", { name: "Go on" }).click();
          await page.getByText("sends <spam>").waitFor();
          await check();
          await page.getByRole("button", { name: "Ban it" }).click();
          await page.getByText("The agent is banned.").waitFor();
          await page.getByText("sends <spam>").waitFor();
          await check();
          assert.equal((await alice.send({ to: "bob_1", body: 1 })).status, 403);
          await page.getByRole("button", { name: "Purge what alice sent" }).click();
          await check();
          await page.getByRole("link", { name: "Not now" }).click();
          await page.getByRole("button", { name: "Unban alice" }).click();
          await page.getByText("The ban is lifted.").waitFor();
          await page.getByRole("link", { name: "Back to the relay" }).click();
          await page.getByRole("button", { name: "Sign out" }).click();
          await page.getByLabel("Admin token").waitFor();
          assert.deepEqual(await page.context().cookies(), []);
          watched.assertQuiet(relay.url);
        });
      });
    }
  },
);
