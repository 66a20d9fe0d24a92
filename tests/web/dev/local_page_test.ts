/// <reference lib="dom" />
/** The pages of captured mail with hostile mail in them, as text and in a browser. */
import assert from "node:assert/strict";
import { createCaptureMailer } from "../../../server/web/dev/capture_mailer.ts";
import { readMail } from "../../../server/web/dev/read_mail.ts";
import { CapturedMails } from "../../../server/web/dev/captured_mails.ts";
import type { MailToHandIn } from "../../../server/web/dev/hand_in.ts";
import { localRoutes } from "../../../server/web/dev/routes.ts";
import { createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import { type AppServer, startApp } from "../../support/app_server.ts";
import { ask } from "../../support/answer.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";

const HTML = { headers: { Accept: "text/html" } };
const SCRIPT = `<script>document.title = "run"</script>`;
const HOSTILE = `From: "${SCRIPT}" <a@x.test>
To: <img src=x onerror="document.title='run'">@y.test
Subject: </title>${SCRIPT}<b>&amp; '"\u202e
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: text/plain; charset=utf-8

${SCRIPT}</pre><a href="https://evil.test/clicked">bank</a> \u202e
http://127.0.0.1/"onmouseover="document.title='run' https://a.test/?x=<script>
--m
Content-Type: text/html; charset=utf-8

<body onload="document.title='run'">${SCRIPT}<img src="http://127.0.0.1:9/pixel">
<a href="javascript:document.title='run'">x</a><form action="/dev/mail" method="post"><button>y</button></form>
--m
Content-Type: text/html; name="${SCRIPT}"
Content-Disposition: attachment; filename="'><svg onload=alert(1)>.html"

x
--m--
`;

interface Pages extends AsyncDisposable {
  url: string;
  /** What was handed in. */
  handedIn: MailToHandIn[];
  send(message: string, to?: string): Promise<void>;
}

async function startPages(): Promise<Pages> {
  const mails = new CapturedMails();
  const mailer = createCaptureMailer(mails, () => Date.UTC(2026, 0, 1), readMail);
  const bodies = createBodyReader();
  const handedIn: MailToHandIn[] = [];
  const app: AppServer = await startApp(
    localRoutes({
      mails,
      baseUrl: "http://127.0.0.1:1",
      domain: "agents.test",
      handIn(mail) {
        handedIn.push(mail);
        return Promise.resolve({ accepted: [...mail.to], rejected: [] });
      },
      now: () => Date.UTC(2026, 0, 1),
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    }),
    { bodies },
  );
  return {
    url: app.url,
    handedIn,
    async send(message, to = "bob@example.net") {
      const content = new TextEncoder().encode(message.replaceAll("\n", "\r\n"));
      const handover = {
        beforeContent: () => Promise.resolve(),
        signal: new AbortController().signal,
      };
      await mailer.send({ from: "relay@relay.test", to, content }, handover);
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      bodies.close();
    },
  };
}

/** Every element of a page and every attribute that it may have. */
const ALLOWED = new RegExp(
  `^(?:${
    [
      `!doctype html|html lang="en"|meta charset="utf-8"|meta name="[a-z-]+" content="[a-z0-9=, -]+"`,
      `link rel="(?:stylesheet|icon)"(?: type="image/svg\\+xml")? href="/assets/[a-z0-9.]+"`,
      `img src="/assets/[a-z0-9.]+" alt="" width="28" height="28"`,
      `/?(?:html|head|title|body|header|nav|main|footer|div|span|h1|h2|h3|p|ol|ul|li|dl|dt|dd|pre|code|a|bdi)`,
      `nav aria-label="Relay"|main id="main" class="wide"|dl class="facts"|ol class="records"`,
      `code class="copy"|div class="(?:bar|card|lines)"`,
      `a (?:class="(?:skip|brand)" )?href="(?:#main|/|/v1/limits|/contact|/dev/webhooks|/dev/mail(?:/[0-9]+(?:/raw)?)?)"`,
      `a href="/(?:network|agents|verify|docs)" `,
      `a href="https?://[^"<>]*" rel="noopener noreferrer"`,
      `/?(?:details|summary|form|button)|/label|/textarea|div class="(?:actions|field)"`,
      `form method="post" action="/dev/mail(?:/[0-9]+/answer)?"|button class="secondary"`,
      `input type="hidden" name="as" value="(?:reply|bounce|out_of_office)"`,
      `label for="[a-z]+"|textarea id="text" name="text"|span class="hint"`,
      `input id="(?:from|to|subject)" name="[a-z]+" type="(?:email|text)"[a-z0-9 ="@.]*`,
    ].join("|")
  })$`,
);

Deno.test("pages of captured mail hold nothing but their own elements, whatever the mail holds", async () => {
  await using pages = await startPages();
  await pages.send(HOSTILE);
  await pages.send(`Subject: code\n\nYour code is 123456: ${HOSTILE}`, `"<b>"@x.test`);
  for (const path of ["/dev/mail", "/dev/mail/1", "/dev/mail/2"]) {
    const { text, status } = await ask(pages.url + path, HTML);
    assert.equal(status, 200);
    const elements = [...text.matchAll(/<([^>]*)>/g)].map(([, element]) => element!);
    assert.ok(elements.length > 20);
    for (const element of elements) assert.match(element, ALLOWED);
    assert.doesNotMatch(text, /\u202e/);
    assert.match(text, /&lt;script&gt;/);
  }
  const raw = await ask(`${pages.url}/dev/mail/1/raw`, HTML);
  assert.equal(raw.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(raw.headers.get("x-content-type-options"), "nosniff");
  assert.equal(raw.text, HOSTILE.replaceAll("\n", "\r\n"));
});

partOrSkip(
  "chromium",
  "captured mail is read, clicked and copied, and does nothing by itself",
  async (program) => {
    await using pages = await startPages();
    await pages.send(HOSTILE);
    await pages.send(
      `Subject: Sign in\n\nYour code is 482913.\nOr open ${pages.url}/dev/mail?clicked=1\n`,
    );
    await withChromium(program, async (browser) => {
      await withPage(browser, {}, async (page) => {
        const asked: string[] = [];
        const complaints: string[] = [];
        page.on("request", (request) => void asked.push(request.url()));
        page.on("pageerror", (error) => void complaints.push(error.message));
        page.on("console", (message) => {
          // Browsers ask for one by themselves where text is no page of the relay.
          if (message.location().url.endsWith("/favicon.ico")) return;
          if (message.type() === "error") complaints.push(message.text());
        });
        await page.goto(`${pages.url}/dev/mail`);
        assert.equal(await page.title(), "Captured mail - Agent Messaging Relay");
        await page.click("code.copy");
        assert.equal(await page.evaluate(() => String(getSelection())), "482913");
        await page.click('a[href$="clicked=1"]');
        assert.equal(new URL(page.url()).search, "?clicked=1");
        await page.click('a[href="/dev/mail/1"]');
        assert.match(await page.title(), /^<\/title><script>/);
        assert.match(await page.locator("pre").innerText(), /^<script>document\.title = "run"/);
        await page.click('a[href="/dev/mail/1/raw"]');
        assert.match(await page.locator("body").innerText(), /^From: "<script>/);
        assert.deepEqual(asked.filter((url) => !url.startsWith(`${pages.url}/`)), []);
        assert.deepEqual(complaints, []);
      });
      await withPage(browser, { javaScriptEnabled: false }, async (page) => {
        await page.goto(`${pages.url}/dev/mail`);
        await page.click("summary");
        await page.fill("#to", "bot@agents.test");
        await page.fill("#subject", "Hello");
        await page.fill("#text", "one\ntwo");
        await page.click("text=Hand in >> nth=-1");
        assert.match(await page.locator(".notice").innerText(), /^The mail was handed in/);
        assert.equal(new URL(page.url()).pathname, "/dev/mail");
        await page.click('form[action="/dev/mail/2/answer"]:has([value="out_of_office"]) button');
        assert.match(await page.locator(".notice").innerText(), /^An out-of-office answer/);
        assert.equal(new URL(page.url()).pathname, "/dev/mail/2");
        await page.click("text=Bounce");
        assert.match(await page.locator(".notice").innerText(), /^A report/);
        assert.deepEqual(pages.handedIn.map(({ from, to }) => [from, ...to]), [
          ["you@example.org", "bot@agents.test"],
          ["", "relay@relay.test"],
          ["", "relay@relay.test"],
        ]);
        assert.match(new TextDecoder().decode(pages.handedIn[0]!.raw), /\r\n\r\none\r\ntwo/);
      });
      for (
        const options of [
          { viewport: { width: 1200, height: 800 } },
          { viewport: { width: 320, height: 640 }, colorScheme: "dark" },
        ] as const
      ) {
        await withPage(browser, { ...options, bypassCSP: true }, async (page) => {
          for (const path of ["/dev/mail", "/dev/mail/1", "/dev/mail/2"]) {
            await page.goto(`${pages.url}${path}?notice=handed_in`);
            if (path === "/dev/mail") await page.click("summary");
            await loadAxe(page);
            await expectNoFaults(page);
          }
        });
      }
    });
  },
);
