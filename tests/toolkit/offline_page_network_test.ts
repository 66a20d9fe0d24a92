/// <reference lib="dom" />
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { withChromium, withPage } from "../support/chromium.ts";
import { partOrSkip } from "../support/part.ts";
import { openPage, PAGE_FILE, PHONE } from "./offline_page.ts";

partOrSkip(
  "chromium",
  "the offline page and the network",
  (program, t) =>
    withChromium(program, async (browser) => {
      await t.step("asks a server for nothing but itself", () => asksNothingOfAServer(browser));
      await t.step("asks for nothing but its file, and works offline", () =>
        openPage(browser, PHONE, async (page, requests) => {
          await page.context().setOffline(true);
          await page.click("#example");
          await page.waitForSelector(".result.passed");
          assert.deepEqual(requests, [PAGE_FILE.href]);
        }));
      await t.step("could ask for nothing even if it wanted to", () =>
        canAskForNothing(browser));
    }),
);

async function asksNothingOfAServer(browser: Browser): Promise<void> {
  const html = await Deno.readFile(PAGE_FILE);
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(html, { headers: { "Content-Type": "text/html" } });
  });
  try {
    await withPage(browser, PHONE, async (page) => {
      await page.goto(`http://127.0.0.1:${server.addr.port}/verify.html`);
      await page.click("#example");
      await page.waitForSelector(".result.passed");
      await page.click("#altered");
      await page.waitForSelector(".result.false");
      await page.waitForLoadState("networkidle");
    });
    assert.deepEqual(asked, ["GET /verify.html"]);
  } finally {
    await server.shutdown();
  }
}

async function canAskForNothing(browser: Browser): Promise<void> {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    asked.push(request.url);
    return new Response("", { headers: { "Access-Control-Allow-Origin": "*" } });
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  try {
    await withPage(browser, PHONE, async (page) => {
      await page.goto(PAGE_FILE.href);
      const outcomes = await page.evaluate(async (origin) => {
        const failed = (promise: Promise<unknown>) => promise.then(() => false, () => true);
        const loaded = (name: string, attribute: string) =>
          failed(
            new Promise((resolve, reject) => {
              const element = document.createElement(name);
              element.onload = resolve;
              element.onerror = reject;
              element.setAttribute("rel", "stylesheet");
              element.setAttribute(attribute, `${origin}/${name}`);
              document.head.append(element);
            }),
          );
        return {
          fetch: await failed(fetch(`${origin}/fetch`)),
          image: await loaded("img", "src"),
          style: await loaded("link", "href"),
          socket: await failed(
            new Promise((resolve, reject) => {
              const socket = new WebSocket(origin.replace("http", "ws"));
              socket.onopen = resolve;
              socket.onerror = reject;
            }),
          ),
        };
      }, origin);
      assert.deepEqual(outcomes, { fetch: true, image: true, style: true, socket: true });
    });
    assert.deepEqual(asked, []);
  } finally {
    await server.shutdown();
  }
}
