import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundleForBrowser } from "../../toolkit/build/bundle_for_browser.ts";
import { EXAMPLE_MESSAGE, EXAMPLE_RECIPIENT } from "../../toolkit/page/example.ts";
import { withChromium, withPage } from "../support/chromium.ts";
import { partOrSkip } from "../support/part.ts";
import type { VectorResults } from "./browser_vectors.ts";
import { vectorCases } from "./vector_cases.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

partOrSkip("chromium", "every vector holds in Chromium too", async (program, t) => {
  const script = await bundleForBrowser(ROOT, "tests/toolkit/browser_vectors.ts", "iife");
  const library = await bundleForBrowser(ROOT, "toolkit/build/browser.ts");
  const served: Record<string, [string, string]> = {
    "/": ["text/html", "<!doctype html><title>vectors</title>"],
    "/vectors.js": ["text/javascript", script],
    "/browser.js": ["text/javascript", library],
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const [type, text] = served[new URL(request.url).pathname] ?? [];
    if (type === undefined) return new Response(null, { status: 404 });
    return new Response(text, { headers: { "Content-Type": `${type}; charset=utf-8` } });
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  try {
    await withChromium(program, async (browser) => {
      // Without a secure context a page has no WebCrypto, and the toolkit computes by itself.
      for (const [address, isSecure] of [[`${origin}/`, true], ["about:blank", false]] as const) {
        await t.step(
          isSecure ? "with WebCrypto" : "without WebCrypto",
          () =>
            withPage(browser, {}, async (page) => {
              await page.goto(address);
              await page.addScriptTag({ content: script });
              const results = await page.evaluate(() =>
                (globalThis as unknown as { vectorResults: Promise<VectorResults> }).vectorResults
              );
              assert.deepEqual(results, { ran: [...vectorCases()].length, failed: [], isSecure });
            }),
        );
      }

      await t.step(
        "the bundle for browsers is a module that checks a message",
        () =>
          withPage(browser, {}, async (page) => {
            await page.goto(`${origin}/`);
            const text = JSON.stringify({ message: EXAMPLE_MESSAGE, address: EXAMPLE_RECIPIENT });
            const report = await page.evaluate(async (text) => {
              const path = "/browser.js";
              const { verifyMessage, RelayClient } = await import(path);
              const client = new RelayClient({ relay: location.origin });
              const { message, address } = JSON.parse(text);
              return [await verifyMessage(message, { recipient: { address } }), typeof client.send];
            }, text);
            assert.deepEqual(report, [
              {
                canonicalString: "ok",
                signature: "valid",
                sender: "not-pinned",
                contentHash: "match",
                body: "bound",
                addressee: "key",
                age: { signedAt: "2025-10-09T08:53:20.000Z", skewSeconds: 0.25, within: null },
              },
              "function",
            ]);
          }),
      );
    });
  } finally {
    await server.shutdown();
  }
});
