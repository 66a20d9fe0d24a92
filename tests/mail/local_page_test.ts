/// <reference lib="dom" />
/** The pages of captured mail with hostile mail in them, as text and in a browser. */
import assert from "node:assert/strict";
import { createCaptureMailer } from "../../server/local/capture_mailer.ts";
import { CapturedMails } from "../../server/local/captured_mails.ts";
import { localRoutes } from "../../server/local/routes.ts";
import { createBodyReader } from "../../server/http/body.ts";
import { type AppServer, startApp } from "../support/app_server.ts";
import { ask } from "../support/answer.ts";
import { withChromium, withPage } from "../support/chromium.ts";
import { expectNoFaults, loadAxe } from "../support/page_faults.ts";
import { partOrSkip } from "../support/part.ts";

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
  send(message: string, to?: string): Promise<void>;
}

async function startPages(): Promise<Pages> {
  const mails = new CapturedMails();
  const mailer = createCaptureMailer(mails, () => Date.UTC(2026, 0, 1));
  const bodies = createBodyReader();
  const app: AppServer = await startApp(
    localRoutes({
      mails,
      baseUrl: "http://127.0.0.1:1",
      domain: "agents.test",
    }),
    { bodies },
  );
  return {
    url: app.url,
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
      `/?(?:html|head|title|body|header|nav|main|footer|div|span|h1|h2|p|ol|ul|li|dl|dt|dd|pre|code|a|bdi)`,
      `nav aria-label="Relay"|main id="main" class="wide"|dl class="facts"|ol class="records"`,
      `code class="copy"|div class="(?:bar|card|lines)"`,
      `a (?:class="(?:skip|brand)" )?href="(?:#main|/|/v1/limits|/contact|/dev/mail(?:/[0-9]+(?:/raw)?)?)"`,
      `a href="/(?:network|agents|verify|docs)" `,
      `a href="https?://[^"<>]*" rel="noopener noreferrer"`,
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
      for (
        const options of [
          { viewport: { width: 1200, height: 800 } },
          { viewport: { width: 320, height: 640 }, colorScheme: "dark" },
        ] as const
      ) {
        await withPage(browser, { ...options, bypassCSP: true }, async (page) => {
          for (const path of ["/dev/mail", "/dev/mail/1", "/dev/mail/2"]) {
            await page.goto(pages.url + path);
            await loadAxe(page);
            await expectNoFaults(page);
          }
        });
      }
    });
  },
);
