/// <reference lib="dom" />
/** The pages in a browser: both sizes, both colour schemes, with and without JavaScript. */
import assert from "node:assert/strict";
import { html, raw } from "hono/html";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { answerPage } from "../../../server/base/pages/answer_page.ts";
import {
  codeBlock,
  factList,
  type Html,
  notice,
  postButton,
  table,
} from "../../../server/base/pages/elements.ts";
import { frame } from "../../../server/base/pages/frame.ts";
import { readBody } from "../../../server/base/http/routes/read_body.ts";
import { startApp } from "../../support/app_server.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay } from "../../support/relay.ts";
import { createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import { DESKTOP, LOOKS, PHONE } from "./looks.ts";
import { watchPage } from "./watch_page.ts";

const LONG = "a".repeat(300);

/** Every element that pages are made of. */
const ELEMENTS: Html = html`
  <p class="lead">Every element, with <code>code</code> and <a href="/">links</a>.</p>
  ${(["info", "success", "warning", "error"] as const).map((kind) =>
    notice(kind, `A notice: ${kind}.`)
  )}
  <div class="card"><h2>A card</h2>
  ${factList([["Name", LONG], [
    "Codes",
    html`<div class="lines"><code class="copy">123456</code></div>`,
  ]])}
  <div class="actions">
  ${postButton({ action: "/elements", label: "Confirm", fields: { token: "t<&" } })}
  ${postButton({ action: "/elements", label: "Not now", kind: "secondary" })}
  ${postButton({ action: "/elements", label: "Delete", kind: "danger" })}
  <a class="button secondary" href="/">A link as a button</a></div></div>
  <h2>Text to copy</h2>${codeBlock(`relay mail register \\\n  --handle ${LONG}`)}
  <h2>A form</h2>
  <form method="post" action="/elements">
  <div class="field"><label for="name">Name</label><input id="name" type="text">
  <span class="hint">At most 100 characters.</span></div>
  <div class="field"><label for="mail">E-mail</label>
  <input id="mail" type="email" value="x" aria-invalid="true" aria-describedby="fault">
  <p class="field-error" id="fault">This is no address.</p></div>
  <div class="field"><label for="kind">Kind</label><select id="kind"><option>One</option></select></div>
  <fieldset><legend>Choice</legend><label class="choice"><input type="radio" name="one"> This</label>
  <label class="choice"><input type="checkbox" name="two"> That</label></fieldset>
  <div class="field"><label for="text">Text</label><textarea id="text"></textarea></div>
  <button>Send</button> <button disabled>Not possible</button></form>
  <h2>A table</h2>
  ${table([["Name", "head"], ["Count", "number"]], [[LONG, "1,000"]], "Counts")}
  <h3>A list</h3><ol class="records">
    <li><h4><a href="/">One</a></h4>${factList([["To", "x"]])}</li>
  </ol>
  <p class="soft">Less important. <small>Small.</small></p>
`;

/** What must not run, load or look like anything, wherever it comes from. */
const injected = (elsewhere: string): Html =>
  raw(`<script>document.title = "run"</script>
<img src="x" onerror="document.title='run'"><img src="${elsewhere}/pixel" alt="">
<p id="styled" style="color: rgb(1, 2, 3)">styled</p><style>h1 { color: rgb(1, 2, 3); }</style>
<form method="post" action="${elsewhere}/form"><button id="away">away</button></form>`);

const pageRoute = (path: string, title: string, content: Html): Route => ({
  method: "GET",
  path,
  page: true,
  cors: "none",
  handle: async () => answerPage(await frame(title, content), { referrerPolicy: "same-origin" }),
});

partOrSkip(
  "chromium",
  "the relay's pages are free of faults in every look, and ask no other host",
  async (program) => {
    await using relay = await startTestRelay();
    const paths = ["/", "/nothing", "/v1/notifications?token=x", "/v1/notifications"];
    await withChromium(program, async (browser) => {
      const backgrounds = new Set<string>();
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const { urls, complaints } = watchPage(page);
          for (const path of paths) {
            await page.goto(relay.url + path);
            await loadAxe(page);
            await expectNoFaults(page);
          }
          backgrounds.add(
            await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor),
          );
          assert.ok(urls.some((url) => url.includes("/assets/relay.")));
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
          assert.deepEqual(complaints, []);
        });
      }
      assert.equal(backgrounds.size, 2);
    });
  },
);

partOrSkip(
  "chromium",
  "a digest's reader walks from the link to the last page, with and without JavaScript",
  async (program) => {
    await using relay = await startTestRelay();
    await withChromium(program, async (browser) => {
      for (const javaScriptEnabled of [true, false]) {
        await withPage(browser, { ...PHONE, javaScriptEnabled }, async (page) => {
          const { urls, complaints } = watchPage(page);
          const link = `${relay.url}/v1/notifications?token=rt_unsub_${"A".repeat(43)}`;
          await page.goto(link);
          await page.getByRole("button", { name: "No more of these for this agent" }).click();
          await page.locator(".notice.success", { hasText: "for this agent." }).waitFor();
          await page.getByRole("button", { name: "No mail from this relay" }).click();
          await page.locator(".notice.success", { hasText: "from this relay" }).waitFor();
          await page.getByRole("link", { name: "Agent Messaging Relay" }).click();
          assert.equal(await page.title(), "Agent Messaging Relay");
          await page.goto(`${relay.url}/nothing`);
          await page.getByRole("link", { name: "To the start page" }).click();
          assert.equal(page.url(), `${relay.url}/`);
          for (const label of ["Docs", "Limits in force here"]) {
            const target = await page.getByRole("link", { name: label, exact: true })
              .getAttribute("href");
            assert.equal((await page.request.get(relay.url + target)).status(), 200, label);
          }
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
          assert.deepEqual(complaints, []);
        });
      }
    });
  },
);

partOrSkip(
  "chromium",
  "every element of pages is free of faults, fits its window and can be copied and pressed",
  async (program) => {
    const posted: (string | null)[][] = [];
    const bodies = createBodyReader();
    await using app = await startApp([
      pageRoute("/elements", "Every element", ELEMENTS),
      {
        method: "POST",
        path: "/elements",
        page: true,
        cors: "none",
        body: { limitBytes: 1_000, pool: "messages" },
        async handle(c) {
          const body = new TextDecoder().decode(await readBody(c));
          posted.push([c.req.raw.headers.get("origin"), body]);
          return answerPage(await frame("Done", notice("success", "It is done.")));
        },
      },
    ], { bodies });
    await withChromium(program, async (browser) => {
      for (const look of LOOKS) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          await page.goto(`${app.url}/elements`);
          await loadAxe(page);
          await expectNoFaults(page);
          await page.emulateMedia({ media: "print" });
          await expectNoFaults(page);
        });
      }
      await withPage(browser, { ...PHONE, javaScriptEnabled: false }, async (page) => {
        await page.goto(`${app.url}/elements`);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        assert.equal(new URL(page.url()).hash, "#main");
        await page.locator("pre.copy").click();
        const copied = await page.evaluate(() => String(getSelection()));
        assert.equal(copied.trim(), `relay mail register \\\n  --handle ${LONG}`);
        await page.getByRole("button", { name: "Confirm" }).click();
        await page.locator(".notice.success").waitFor();
      });
    });
    bodies.close();
    assert.deepEqual(posted, [[app.url, "token=t%3C%26"]]);
  },
);

partOrSkip(
  "chromium",
  "what is injected into a page neither runs, nor loads, nor leads away",
  async (program) => {
    const asked: string[] = [];
    const taking = (method: "GET" | "POST", path: string): Route => ({
      method,
      path,
      handle() {
        asked.push(path);
        return new Response("taken");
      },
    });
    await using other = await startApp([taking("GET", "/pixel"), taking("POST", "/form")]);
    await using app = await startApp([pageRoute("/injected", "Safe", injected(other.url))]);
    await withChromium(program, async (browser) => {
      await withPage(browser, DESKTOP, async (page) => {
        const { complaints } = watchPage(page);
        await page.goto(`${app.url}/injected`);
        assert.equal(await page.locator("main script").count(), 1);
        const colors = await page.evaluate(() =>
          ["#styled", "h1"].map((name) => getComputedStyle(document.querySelector(name)!).color)
        );
        assert.ok(!colors.includes("rgb(1, 2, 3)"), colors.join(" "));
        assert.match(await page.title(), /^Safe - /);
        const refusal = page.waitForEvent("console", (said) => /form-action/.test(said.text()));
        await page.evaluate(() => document.querySelector<HTMLButtonElement>("#away")!.click());
        await refusal;
        assert.equal(page.url(), `${app.url}/injected`);
        const refused = complaints.filter((text) => /Content Security Policy/.test(text));
        assert.ok(refused.length >= 5, complaints.join("\n"));
      });
    });
    assert.deepEqual(asked, []);
  },
);
