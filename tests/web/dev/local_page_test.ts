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
import { DESKTOP, LOOKS as SHOWN, PHONE } from "../pages/looks.ts";
import { watchPage } from "../pages/watch_page.ts";

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
  const local = localRoutes({
    mails,
    baseUrl: "http://127.0.0.1:1",
    domain: "agents.test",
    handIn(mail) {
      handedIn.push(mail);
      return Promise.resolve({ accepted: [...mail.to], rejected: [] });
    },
    now: () => Date.UTC(2026, 0, 1),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  });
  const app: AppServer = await startApp(local.routes, { bodies });
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
      local.endWaits();
      await app[Symbol.asyncDispose]();
      bodies.close();
    },
  };
}

const TAGS = new Set(
  "html head meta title link script body em a header svg rect path nav form input kbd main h1 h2 ul ol li bdi span section p div article iframe details summary label textarea button dialog dl dt dd code time br"
    .split(" "),
);
const ATTRIBUTES = new Set(
  "autocomplete required lang charset name content rel type href src class id aria-label aria-current aria-hidden data-live data-key data-stream data-copy action role method value maxlength placeholder hidden title datetime dir sandbox referrerpolicy loading target download width height viewBox rx stroke d fill stroke-width stroke-linecap stroke-linejoin for"
    .split(" "),
);

interface Tag {
  name: string;
  attributes: Record<string, string>;
}

/** The start tags of a page, as a browser reads them: what strangers wrote has none. */
function tagsOf(page: string): Tag[] {
  const found = page.matchAll(/<([a-z][a-z0-9]*)((?:\s+[^\s"'<>/=]+(?:="[^"<>]*")?)*)\s*>/gi);
  const tags = Array.from(found, ([, name, rest]) => ({
    name: name!.toLowerCase(),
    attributes: Object.fromEntries(
      Array.from(
        rest!.matchAll(/([^\s"'<>/=]+)(?:="([^"<>]*)")?/g),
        ([, key, value]) => [key!, value ?? ""],
      ),
    ),
  }));
  const starts = [...page.matchAll(/<[a-z]/gi)].length;
  // The icon's elements end themselves, and everything else that begins like a tag is one.
  const closed = [...page.matchAll(/<(?:rect|path) [^<>]*\/>/g)].length;
  assert.equal(tags.length + closed, starts);
  return tags;
}

Deno.test("pages of captured mail hold nothing but their own elements, whatever the mail holds", async () => {
  await using pages = await startPages();
  await pages.send(HOSTILE);
  await pages.send(`Subject: code\n\nYour code is 123456: ${HOSTILE}`, `"<b>"@x.test`);
  for (
    const path of [
      "/dev/mail",
      "/dev/mail/1",
      "/dev/mail/2",
      "/dev/mail?q=%3Cb%3E",
      "/dev/mail?write=1",
    ]
  ) {
    const { text, status } = await ask(pages.url + path, HTML);
    assert.equal(status, 200);
    const tags = tagsOf(text);
    assert.ok(tags.length > 20);
    for (const { name, attributes } of tags) {
      assert.ok(TAGS.has(name), name);
      for (const key of Object.keys(attributes)) assert.ok(ATTRIBUTES.has(key), `${name} ${key}`);
      const { href, src, action, rel } = attributes;
      for (const own of [src, action]) assert.match(own ?? "/", /^\/(?:assets|dev)\/|^\/$/);
      if (href !== undefined && !/^(?:[/#]|\/\/)/.test(href)) {
        assert.match(href, /^https?:\/\//);
        assert.match(rel ?? "", /noreferrer/);
      }
    }
    assert.equal(tags.filter(({ name }) => name === "script").length, 1);
    assert.ok(
      tags.filter(({ name }) => name === "iframe").every(({ attributes }) =>
        attributes.sandbox === ""
      ),
    );
    assert.doesNotMatch(text, /\u202e/);
  }
  assert.match((await ask(`${pages.url}/dev/mail/1`, HTML)).text, /&lt;script&gt;/);
  const raw = await ask(`${pages.url}/dev/mail/1/raw`, HTML);
  assert.equal(raw.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(raw.headers.get("x-content-type-options"), "nosniff");
  assert.equal(raw.text, HOSTILE.replaceAll("\n", "\r\n"));
  const frame = await ask(`${pages.url}/dev/mail/1/html`, HTML);
  assert.match(
    frame.headers.get("content-security-policy")!,
    /^sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'$/,
  );
  const file = await ask(`${pages.url}/dev/mail/1/file?n=0`);
  assert.equal(file.headers.get("content-type"), "application/octet-stream");
  assert.match(file.headers.get("content-disposition")!, /^attachment; /);
  assert.equal(file.text.trim(), "x");
  assert.equal((await ask(`${pages.url}/dev/mail/1/file?n=7`)).status, 404);
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
      assert.ok(SHOWN.length > 1);
      for (const look of SHOWN) {
        await withPage(browser, { ...look, bypassCSP: false }, async (page) => {
          const { urls, complaints } = watchPage(page);
          const refused: string[] = [];
          page.on("requestfailed", (request) => {
            if (request.failure()?.errorText === "csp") refused.push(request.url());
          });
          await page.goto(`${pages.url}/dev/mail`);
          await page.locator("a.row").last().click();
          await page.waitForURL(`${pages.url}/dev/mail/1`);
          assert.match(await page.title(), /<\/title><script>/);
          const frame = page.frameLocator("iframe.mail-html").locator("a", { hasText: "x" });
          await frame.waitFor();
          await page.locator("summary", { hasText: "Nothing was loaded from elsewhere" }).click();
          await page.getByText("http://127.0.0.1:9/pixel").waitFor();
          // What the frame of the mail refuses says so there, by the mail's own doing.
          assert.ok(complaints.length > 0);
          assert.ok(
            complaints.every((words) => /Content Security Policy|sandboxed/.test(words)),
            complaints.join("\n"),
          );
          // Such a request is told of, and never made.
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${pages.url}/`)), refused);
        });
      }
      for (const look of SHOWN) {
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const { urls, complaints } = watchPage(page);
          for (
            const path of [
              "/dev/mail",
              "/dev/mail/2",
              "/dev/mail?view=received",
              "/dev/mail?write=1",
              "/dev/mail?q=sign",
            ]
          ) {
            await page.goto(pages.url + path);
            await loadAxe(page);
            await expectNoFaults(page);
          }
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${pages.url}/`)), []);
          assert.deepEqual(complaints, []);
        });
      }
    });
  },
);

partOrSkip(
  "chromium",
  "one key copies the newest code, mail appears as it is captured, and keys answer it",
  async (program) => {
    await using pages = await startPages();
    await pages.send(
      "From: relay@relay.test\nSubject: First\n\nYour code is 111222.\n",
      "ann@example.net",
    );
    await withChromium(program, async (browser) => {
      const permissions = ["clipboard-read", "clipboard-write"];
      await withPage(browser, { ...DESKTOP, permissions }, async (page) => {
        const { complaints } = watchPage(page);
        const copied = () => page.evaluate(() => navigator.clipboard.readText());
        await page.goto(`${pages.url}/dev/mail`);
        await page.keyboard.press("c");
        await page.getByRole("button", { name: "Copied" }).waitFor();
        assert.equal(await copied(), "111222");
        await pages.send("Subject: Second\n\nYour code is 333444.\n", "bob@example.net");
        await page.locator(".pane h1", { hasText: "Second" }).waitFor();
        assert.equal(await page.locator("a.row").count(), 2);
        await page.keyboard.press("c");
        await page.getByRole("button", { name: "Copied" }).waitFor();
        assert.equal(await copied(), "333444");
        await page.keyboard.press("/");
        await page.keyboard.type("first");
        await page.keyboard.press("Enter");
        await page.locator(".pane h1", { hasText: "First" }).waitFor();
        assert.equal(await page.locator("a.row").count(), 1);
        await page.keyboard.press("r");
        await page.keyboard.type("Thank you.");
        await page.getByRole("button", { name: "Reply" }).click();
        await page.getByText("A reply was handed in").waitFor();
        await page.keyboard.press("b");
        await page.getByText("A report that this mail").waitFor();
        await page.keyboard.press("n");
        await page.getByLabel("To", { exact: true }).waitFor();
        assert.deepEqual(pages.handedIn.map(({ from, to }) => [from, ...to]), [
          ["ann@example.net", "relay@relay.test"],
          ["", "relay@relay.test"],
        ]);
        assert.match(new TextDecoder().decode(pages.handedIn[0]!.raw), /\r\n\r\nThank you\./);
        assert.deepEqual(complaints, []);
      });
      await withPage(browser, { ...PHONE, javaScriptEnabled: false }, async (page) => {
        await page.goto(`${pages.url}/dev/mail`);
        await page.getByRole("link", { name: "Hand in a mail" }).first().click();
        await page.getByLabel("To", { exact: true }).fill("bot@agents.test");
        await page.getByLabel("Subject").fill("Hello");
        await page.getByLabel("Text").fill("one\ntwo");
        await page.getByRole("button", { name: "Hand in" }).click();
        await page.waitForURL(`${pages.url}/dev/mail?notice=handed_in`);
        await page.locator("a.row").first().click();
        await page.getByRole("button", { name: "Out of office" }).click();
        await page.getByText("An out-of-office answer").waitFor();
        assert.match(new TextDecoder().decode(pages.handedIn.at(-1)!.raw), /auto-replied/);
        assert.match(new TextDecoder().decode(pages.handedIn.at(-2)!.raw), /\r\n\r\none\r\ntwo/);
      });
    });
  },
);
