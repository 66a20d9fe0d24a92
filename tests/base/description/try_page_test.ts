import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { ask, assertRefused } from "../../support/answer.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { partOrSkip } from "../../support/part.ts";
import { exchange } from "../../support/raw_http.ts";
import { startTestRelay } from "../../support/relay.ts";
import { describedRoutes, readDocument } from "./read_document.ts";

Deno.test("GET /docs/try is a page that may load and reach nothing but its relay", async () => {
  await using relay = await startTestRelay({ config: { baseUrl: "https://relay.test" } });
  const page = await ask(`${relay.url}/docs/try`);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(page.headers.get("access-control-allow-origin"), null);
  const policy = new Map(
    page.headers.get("content-security-policy")!.split("; ").map((part) => {
      const [name, ...sources] = part.split(" ");
      return [name!, sources.join(" ")];
    }),
  );
  assert.equal(policy.get("default-src"), "'none'");
  assert.equal(policy.get("script-src"), "'self'");
  assert.equal(policy.get("connect-src"), "'self' https://relay.test");
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target!);
  assert.ok(addresses.length >= 5);
  for (const target of addresses) assert.match(target, /^(\/(?!\/)|data:,$)/);
});

Deno.test("the files of /docs/try are kept by their version, compressed where that is taken", async () => {
  await using relay = await startTestRelay();
  const page = await (await fetch(`${relay.url}/docs/try`)).text();
  const files = [...page.matchAll(/"(\/docs\/try\/[a-z.-]+)\?v=([0-9a-f]{16})"/g)];
  assert.deepEqual(files.map(([, path]) => path).toSorted(), [
    "/docs/try/swagger-ui-bundle.js",
    "/docs/try/swagger-ui.css",
    "/docs/try/try.js",
  ]);
  for (const [, path, version] of files) {
    const plain = await fetch(`${relay.url}${path}?v=${version}`, {
      headers: { "Accept-Encoding": "identity" },
    });
    assert.equal(plain.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(plain.headers.get("content-encoding"), null);
    assert.equal(plain.headers.get("vary"), "Accept-Encoding");
    assert.equal(plain.headers.get("x-content-type-options"), "nosniff");
    const text = await plain.text();
    assert.doesNotMatch(text, /sourceMappingURL=/);
    const zipped = await fetch(`${relay.url}${path}?v=other`, {
      headers: { "Accept-Encoding": "br;q=0, gzip" },
    });
    assert.equal(zipped.headers.get("cache-control"), "no-cache");
    assert.equal(await zipped.text(), text);
    // Not by fetch(): older ones hide the encoding that they know.
    const head = await exchange(
      relay.port,
      `HEAD ${path} HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n`,
    );
    assert.equal(head?.headers.get("content-encoding"), "gzip");
    assert.ok(Number(head.headers.get("content-length")) < text.length / 2, path);
  }
  for (
    const path of [
      "/docs/try/",
      "/docs/try/other.js",
      "/docs/try/constructor",
      "/docs/try/%2ftry.js",
    ]
  ) {
    assertRefused(await ask(relay.url + path), "not_found");
  }
});

partOrSkip(
  "chromium",
  "the page to try out shows and tries every route, with a new key filled in, and asks no other host",
  async (program) => {
    await using relay = await startTestRelay({ deps: { now: Date.now } });
    const count = describedRoutes(await readDocument(relay)).length;
    await withChromium(program, async (browser) => {
      await withPage(browser, {}, async (page) => {
        const asked = watch(page);
        await page.goto(`${relay.url}/docs/try`);
        await page.locator(".opblock").nth(count - 1).waitFor();
        assert.equal(await page.locator(".opblock").count(), count);
        assert.equal(await page.locator(".info .title").first().innerText().then(firstLine), TITLE);

        assert.equal((await tryOut(page, "Network-readStats")).status, 200);
        const hidden = await tryOut(page, "Identity-whoami");
        assert.equal(hidden.status, 401);

        await page.click("#make-key");
        await page.locator("#key-status", { hasText: "signed by" }).waitFor();
        const address = /signed by (\S+)/.exec(await page.locator("#key-status").innerText())![1]!;
        const filled = JSON.parse(
          await page.locator("#operations-Identity-register textarea.body-param__text")
            .inputValue(),
        );
        assert.equal(filled.pubkey, address);
        assert.match(filled.handle, /^try_[0-9a-f]{8}$/);
        assert.equal((await tryOut(page, "Identity-register")).status, 201);
        const message = { to: filled.handle, body: { text: "tried out" } };
        const first = await tryOut(page, "Messages-sendMessage", message);
        const second = await tryOut(page, "Messages-sendMessage", message);
        assert.deepEqual([first.status, second.status], [201, 201]);
        assert.notEqual(first.json.id, second.json.id);
        const inbox = await tryOut(page, "Messages-readInbox");
        assert.equal(inbox.status, 200);
        assert.deepEqual(inbox.json.messages.map(({ from }: { from: string }) => from), [
          address,
          address,
        ]);
        assert.deepEqual(asked.elsewhere(relay.url), []);
        assert.deepEqual(asked.complaints, []);
      });
    });
  },
);

partOrSkip(
  "chromium",
  "the page to try out works under another name of the relay, in the dark too",
  async (program) => {
    await using relay = await startTestRelay({ clockStartMs: "real" });
    await withChromium(program, async (browser) => {
      await withPage(browser, { ...PHONE, colorScheme: "dark" }, async (page) => {
        const asked = watch(page);
        const other = `http://localhost:${relay.port}`;
        await page.goto(`${other}/docs/try`);
        await page.waitForSelector(".opblock");
        const shade = () =>
          page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
        assert.ok(brightnessOf(await shade() as string) < 64);
        await page.emulateMedia({ colorScheme: "light" });
        await page.locator("html:not(.dark-mode)").waitFor({ state: "attached" });
        assert.ok(brightnessOf(await shade() as string) > 191);
        assert.equal((await tryOut(page, "Service-readHealth")).status, 200);
        const outside = asked.elsewhere(other).filter((url) => !url.startsWith(`${relay.url}/`));
        assert.deepEqual(outside, []);
        assert.deepEqual(asked.complaints, []);
      });
    });
  },
);

const PHONE = { viewport: { width: 390, height: 800 } };
/** Values of a colour given as `rgb(r, g, b)`; a transparent one shows the white beneath. */
function brightnessOf(color: string): number {
  const [red = 0, green = 0, blue = 0, alpha = 1] = color.match(/[\d.]+/g)!.map(Number);
  return alpha === 0 ? 255 : Math.max(red, green, blue);
}
const TITLE = "Agent Messaging Relay";
const firstLine = (text: string) => text.split("\n")[0]!.trim();

/** Everything the page asks for, and everything it complains of. */
function watch(page: Page) {
  const urls: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => void urls.push(request.url()));
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("console", (message) => {
    // A refusal that was tried out is shown on the console as well.
    const isRefusal = /status of 4\d\d/.test(message.text());
    if (message.type() === "error" && !isRefusal) complaints.push(message.text());
  });
  return {
    complaints,
    elsewhere: (own: string) =>
      urls.filter((url) => !url.startsWith(`${own}/`) && !url.startsWith("data:")),
  };
}

/** Opens an operation, fills its body and executes it. */
async function tryOut(page: Page, id: string, body?: unknown) {
  const operation = page.locator(`#operations-${id.replace(" ", "_")}`);
  if (await operation.locator(".opblock-body").count() === 0) {
    await operation.locator(".opblock-summary-control").click();
  }
  if (body !== undefined) {
    await operation.locator("textarea.body-param__text").fill(JSON.stringify(body));
  }
  const path = (await operation.locator(".opblock-summary-path").first().innerText())
    .replaceAll("\u200b", "").trim();
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === path);
  await operation.locator("button.execute").click();
  const response = await answered;
  await operation.locator(".live-responses-table .response-col_status").first().waitFor();
  return { status: response.status(), json: await response.json() };
}
