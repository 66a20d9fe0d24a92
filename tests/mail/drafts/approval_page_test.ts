/// <reference lib="dom" />
/** The page of a draft in a browser, with the worst that an agent may write into it. */
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import {
  approvalMails,
  decide,
  LETTER,
  makeDraftWorld,
  newDraft,
  newestApproval,
  sentMessages,
} from "../../support/draft_world.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";

/** Where the screenshots go, for who wants to look at them. */
const SHOTS = Deno.env.get("RELAY_TEST_SCREENSHOTS");

/** A host that must not hear of anybody reading the page: it counts those who connect. */
function startTracker() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const tracker = {
    url: `http://127.0.0.1:${listener.addr.port}`,
    connections: 0,
    [Symbol.dispose]: () => listener.close(),
  };
  (async () => {
    for await (const connection of listener) {
      tracker.connections++;
      connection.close();
    }
  })().catch(() => {});
  return tracker;
}

const hostileHtml = (url: string, page: string) => `
<html><head><base href="${url}/"><meta http-equiv="refresh" content="0;url=${url}/refresh">
<link rel="stylesheet" href="${url}/a.css"><link rel="preconnect" href="${url}">
<LINK rel="dns-prefetch" href="${url}"><link/rel="prefetch" href="${url}/p"><link rel="icon" href="${url}/i">
<style>@import "${url}/b.css"; body { background: url(${url}/bg.png) } .w { color: #fff }
@font-face { font-family: x; src: url(${url}/f.woff) } * { font-family: x }</style>
<script src="${url}/s.js"></script><script>top.location = "${url}/top"; parent.document.title = "taken"</script>
</head><body onload="fetch('${url}/onload')" style="background:#fff">
<p>Visible words.</p><p class="w" style="color:#fff">White on white words.</p>
<p hidden>Words of a hidden paragraph.</p>
<img src="${url}/pixel.gif" width="1" height="1"><img src="/v1/limits" srcset="${url}/2.png 2x" onerror="top.x=1">
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="data picture">
<video src="${url}/v.mp4" autoplay poster="${url}/v.png"></video><audio src="${url}/a.mp3" autoplay></audio>
<object data="${url}/o"></object><embed src="${url}/e"><iframe src="${url}/if"></iframe>
<frameset><frame src="${url}/fs"></frameset><IFRAME/src="${url}/if2"></IFRAME>
<iframe srcdoc="&lt;script>top.y=1&lt;/script>"></iframe>
<form action="${page}" method="post" id="f"><input name="action" value="approve"><button autofocus>Press me</button></form>
<form action="${url}/form"><input name="q"><button>Send</button></form>
<a href="${url}/click" target="_top">a link</a> <a href="${url}/ping" ping="${url}/ping">ping</a>
<svg><image href="${url}/svg.png"/><script>top.z=1</script></svg>
<div style="position:fixed;inset:0;background:red">Over everything</div>
</iframe></section></main><h1>Approved</h1><form method=post><button>Approve and send</button>
"></iframe><script>top.q=1</script><plaintext>`;

const HOSTILE = (url: string, page: string) => ({
  to: Array.from({ length: 40 }, (_, i) => ({
    name: i === 3 ? "Ann\u200b\u200b <script>top.n=1</script>" : `Person ${i}`,
    address: `person.${i}@a-rather-long-domain-name.example.org`,
  })),
  cc: Array.from({ length: 6 }, (_, i) => `copy${i}@example.org`),
  bcc: Array.from({ length: 4 }, (_, i) => `blind${i}@example.org`),
  subject: `Invoice\u200b\u200b </title><script>top.t=1</script> \u{e0041}`,
  text: `Dear all,\n\n\u202eexe.txt\nhidden\u200b\u200b\u200btext </bdi></pre><h1>Approved</h1>\n${
    "x".repeat(400)
  }\n`,
  html: hostileHtml(url, page),
  attachments: [{
    filename: "report\u{e0041}.exe",
    content_type: "application/octet-stream",
    content: btoa("MZ"),
  }, { filename: "b.txt", content_type: "text/plain", content: btoa("b") }],
  labels: ["billing"],
  reply_to: "elsewhere@example.net",
});

const VIEWS: Record<string, BrowserContextOptions> = {
  "phone, light": { viewport: { width: 360, height: 740 }, colorScheme: "light" },
  "phone, dark": { viewport: { width: 360, height: 740 }, colorScheme: "dark" },
  "desktop, light": { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  "desktop, dark": { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
};

async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  await page.screenshot({ path: `${SHOTS}/${name.replaceAll(/\W+/g, "-")}.png`, fullPage: true });
}

/**
 * What the browser asked of other hosts. What the policy stops is told as a request that failed before it
 * was made; the tracker knows that nobody came.
 */
function foreignRequests(page: Page, ownUrl: string): string[] {
  const foreign: string[] = [];
  const note = (request: Request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${ownUrl}/`) || url.startsWith("data:");
    if (!isOwn && request.failure()?.errorText !== "csp") foreign.push(url);
  };
  page.on("requestfinished", note);
  page.on("requestfailed", note);
  return foreign;
}

partOrSkip(
  "chromium",
  "a page of hostile content shows all of it, runs none and reaches nobody",
  async (program) => {
    using tracker = startTracker();
    await using relay = await startMailRelay();
    const views = Object.entries(VIEWS).filter((_, i) => isLong || i % 3 === 0);
    assert.ok(views.length >= 2);
    const { owner, agent, inbox } = await makeDraftWorld(relay);
    await newDraft(agent, inbox.id, HOSTILE(tracker.url, "/mail/drafts/x"));
    const mail = await newestApproval(relay);
    await withChromium(program, async (browser: Browser) => {
      for (const [name, options] of views) {
        await withPage(browser, { ...options, bypassCSP: false }, async (page) => {
          const foreign = foreignRequests(page, relay.url);
          await page.goto(relay.url + mail.path, { waitUntil: "load" });
          await page.waitForTimeout(300);
          assert.equal(await page.locator("h1").count(), 1, "one heading, the page's own");
          assert.equal(await page.locator("h1").innerText(), "Approve this mail?");
          assert.equal(await page.locator("form").count(), 2);
          const own = await page.evaluate(() => {
            const seen = globalThis as unknown as Record<string, unknown>;
            return ["n", "q", "t", "x", "y", "z"].filter((name) => seen[name] === 1);
          });
          assert.deepEqual(own, []);
          const words = await page.locator("main").innerText();
          for (const i of [0, 3, 39]) assert.ok(words.includes(`person.${i}@`), `person ${i}`);
          for (const i of [0, 3]) assert.ok(words.includes(`blind${i}@`), `blind ${i}`);
          assert.ok(words.includes("Invoice\\u{200b}"), "what is hidden in the subject is shown");
          assert.ok(words.includes("report\\u{e0041}.exe"));
          assert.ok(words.includes("\\u{202e}exe.txt"), "the direction of text is shown");
          assert.match(words, /Something in this mail is hidden/);
          assert.ok(words.includes("Visible words.") && !words.includes("White on white words."));
          const frame = page.frames().find((one) => one !== page.mainFrame())!;
          const shown = await frame.locator("body").innerText();
          assert.match(shown, /Visible words\./);
          assert.ok(
            !/White on white|hidden paragraph/.test(shown),
            "what nobody would see is gone",
          );
          assert.equal(await frame.locator("form, input, button, iframe, svg, script").count(), 0);
          assert.match(words, /hidden_text/);
          const place = await page.locator("iframe").boundingBox();
          assert.ok(place !== null && place.width >= 250 && place.height >= 200);
          await page.waitForTimeout(200);
          assert.deepEqual([foreign, tracker.connections], [[], 0], name);
          await shoot(page, `draft ${name}`);
          // Clicking a link leads nowhere: browsers connect ahead, but ask for nothing.
          await frame.getByRole("link", { name: "a link" }).click();
          await page.waitForTimeout(200);
          assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, mail.path);
          assert.deepEqual(foreign, []);
          tracker.connections = 0;
        });
        await withPage(
          browser,
          { ...options, bypassCSP: true, javaScriptEnabled: true },
          async (page) => {
            // axe is a script, for which the policy is out of force; what agents write is not judged.
            await page.route(relay.url + mail.path, async (route) => {
              const answer = await route.fetch();
              const body = (await answer.text()).replace(/src="\/mail[^"]*"/, 'srcdoc=""');
              await route.fulfill({ response: answer, body });
            });
            await page.goto(relay.url + mail.path);
            await loadAxe(page);
            await expectNoFaults(page);
          },
        );
      }
    });
    assert.deepEqual(await sentMessages(owner, inbox.id), []);
  },
);

partOrSkip(
  "chromium",
  "a person approves and rejects without JavaScript, and is shown what was changed",
  async (program) => {
    await using relay = await startMailRelay();
    const { owner, agent, inbox } = await makeDraftWorld(relay);
    const draft = await newDraft(agent, inbox.id, {
      ...LETTER,
      html: "<p>How are <b>you</b>?</p>",
    });
    const former = await newestApproval(relay);
    const options = { viewport: { width: 390, height: 800 }, javaScriptEnabled: false };
    await withChromium(program, async (browser) => {
      await withPage(browser, options, async (page) => {
        const heading = (text: string) => page.locator("h1", { hasText: text }).waitFor();
        const press = (name: string) => page.getByRole("button", { name }).click();
        await page.goto(relay.url + former.path);
        const patch = { body: { text: "Other words" } };
        accepted(await agent.ask("PATCH", `/v1/mail/drafts/${draft.id}`, patch), 200);
        await press("Approve and send");
        await heading("This mail was changed");
        assert.equal(await page.getByRole("button").count(), 0);
        await shoot(page, "stale");
        assert.deepEqual(await sentMessages(owner, inbox.id), []);
        await page.getByRole("link", { name: "Decide on this version" }).click();
        await heading("Approve this mail?");
        await press("Approve and send");
        await heading("Approved");
        await shoot(page, "approved");
        const [sent] = await sentMessages(owner, inbox.id);
        // Mail programs show the HTML, which is the same; the words that were changed are in the text.
        assert.equal(sent.preview, "How are you?");
        const whole = await owner.ask("GET", `/v1/mail/messages/${sent.id}`);
        assert.equal(accepted(whole, 200).text, "Other words");
        await newDraft(agent, inbox.id, LETTER);
        const [mail] = await approvalMails(relay);
        await page.goto(relay.url + mail!.path);
        await press("Reject and discard");
        await heading("Rejected");
        assert.equal((await page.goto(relay.url + mail!.path))!.status(), 410);
        await heading("This link does not work");
        accepted(await decide(relay, mail!, "approve"), 410);
      });
    });
    assert.equal((await sentMessages(owner, inbox.id)).length, 1);
  },
);
