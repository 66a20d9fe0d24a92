/// <reference lib="dom" />
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Browser } from "playwright-core";
import messages from "../vectors/messages.json" with { type: "json" };
import { withChromium } from "../support/chromium.ts";
import { partOrSkip } from "../support/part.ts";
import { openPage, PHONE } from "./offline_page.ts";

partOrSkip(
  "chromium",
  "the offline page",
  (program, t) =>
    withChromium(program, async (browser) => {
      await t.step("tries an example, and the same with one word changed", () => examples(browser));
      await t.step(
        "tells each verdict of every vector as the verifier does",
        () => vectors(browser),
      );
      await t.step("takes a signed request, pasted or as a file", () => signedRequest(browser));
      await t.step("shows what strangers wrote as text", () => strangers(browser));
    }),
);

async function examples(browser: Browser): Promise<void> {
  await openPage(browser, PHONE, async (page) => {
    await page.click("#example");
    await page.waitForSelector(".result.passed");
    assert.match(await page.innerText(".result h3"), /Every check that you asked for passed/);
    assert.equal(await page.locator(".verdicts li.holds").count(), 5);
    assert.match(await page.innerText("#results"), /elastic-tomato-beluga \(a name of this key;/);
    await page.click("#altered");
    await page.waitForSelector(".result.false");
    assert.match(await page.innerText(".result h3"), /Something is false/);
    assert.match(
      await page.innerText(".verdicts li.false"),
      /“content_hash” is not the hash of this body/,
    );
    const text = await page.evaluate(() => document.body.innerText);
    assert.doesNotMatch(text, /verified/i);
    for (const words of [/Who stands behind a key/, /Through which relay/, /not bound/]) {
      assert.match(text, words);
    }
  });
}

interface VectorOptions {
  readonly recipient?: { address: string; handle?: string; word_name?: string };
  readonly from?: string;
  readonly max_skew_seconds?: number;
}

const CLASSES: Readonly<Record<string, string>> = {
  ...{ valid: "holds", pinned: "holds", match: "holds", ok: "holds" },
  ...{ invalid: "false", mismatch: "false", malformed: "false" },
  ...{ "not-checkable": "open", "not-pinned": "open", absent: "open" },
};

async function vectors(browser: Browser): Promise<void> {
  // A text area holds no bytes, so that requests are tried in a step of their own.
  const cases = messages.cases.filter(({ options, report }) =>
    report !== undefined && !("request_hex" in options)
  );
  const filled = cases.map(({ message, message_text, options }) => {
    const { recipient, from, max_skew_seconds } = options as VectorOptions;
    return {
      message: message_text ?? JSON.stringify(message),
      address: recipient?.address ?? "",
      handle: recipient?.handle ?? "",
      wordName: recipient?.word_name ?? "",
      from: from ?? "",
      maxSkew: `${max_skew_seconds ?? ""}`,
    };
  });
  const expected = cases.map(({ name, report }) => {
    // Strict JSON has no such text: the page refuses what it was pasted.
    if (name.startsWith("a lone surrogate")) return "";
    const { signature, sender, contentHash, canonicalString, body, age } = report!;
    return [
      CLASSES[signature],
      CLASSES[sender],
      body === "bound" && signature === "valid" ? "holds" : "open",
      CLASSES[contentHash],
      CLASSES[canonicalString],
      age.within === null ? "open" : age.within ? "holds" : "false",
    ].join(" ");
  });
  await openPage(browser, PHONE, async (page) => {
    const shown = await page.evaluate(async (filled) => {
      const all: string[] = [];
      const [form, results, error] = ["form", "results", "message-error"].map((id) =>
        document.getElementById(id)!
      );
      for (const fields of filled) {
        for (const [id, text] of Object.entries(fields)) {
          (document.getElementById(id) as HTMLInputElement).value = text;
        }
        (form as HTMLFormElement).requestSubmit();
        while (results!.childElementCount === 0 && error!.hidden) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
        const verdicts = Array.from(results!.querySelectorAll(".verdicts li"));
        all.push(verdicts.map((verdict) => verdict.className).join(" "));
      }
      return all;
    }, filled);
    assert.ok(cases.length > 80, `only ${cases.length} cases`);
    const named = (classes: string[]) => classes.map((text, i) => `${cases[i]!.name}: ${text}`);
    assert.deepEqual(named(shown), named(expected));
  });
}

async function signedRequest(browser: Browser): Promise<void> {
  const { message, options } = messages.cases.find(({ name }) =>
    name === "not canonical, its request"
  )!;
  const bytes = Uint8Array.from(
    options.request_hex!.match(/../g)!,
    (byte) => Number.parseInt(byte, 16),
  );
  const body = ".verdicts li:nth-child(3)";
  await openPage(browser, PHONE, async (page) => {
    await page.fill("#message", JSON.stringify(message));
    await page.fill("#address", options.recipient!.address!);
    await page.click("button.primary");
    assert.match(await page.innerText(body), /no request rebuilt .* has the signed hash/);
    await page.click("summary");
    await page.fill("#request", new TextDecoder().decode(bytes));
    await page.click("button.primary");
    await page.waitForSelector(".result.passed");
    await page.fill("#request", "{}");
    await page.click("button.primary");
    await page.waitForSelector(".result.not-bound");
    assert.match(await page.innerText(body), /not this message's, or not to this recipient/);
    await page.setInputFiles("#request-file", {
      name: "request.json",
      mimeType: "application/json",
      buffer: Buffer.from(bytes),
    });
    await page.click("button.primary");
    await page.waitForSelector(".result.passed");
  });
}

async function strangers(browser: Browser): Promise<void> {
  const good = messages.cases[0]!.message as Record<string, unknown>;
  const evil = "<img src=x onerror=alert(1)>\u202egnp.exe\u0007";
  await openPage(browser, PHONE, async (page) => {
    await page.fill(
      "#message",
      JSON.stringify({ ...good, body: evil, from_handle: evil, from_word_name: evil }),
    );
    await page.click("button.primary");
    await page.waitForSelector(".result");
    const text = await page.innerText("#results");
    assert.ok(text.includes("<img src=x onerror=alert(1)>\\u{202e}gnp.exe\\u"), text);
    assert.match(text, /IS NO NAME OF THIS KEY, whose name is /);
    assert.equal(await page.locator("img").count(), 0);
  });
}
