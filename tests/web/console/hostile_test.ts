/// <reference lib="dom" />
/** Hostile mails in the mailbox: nothing of them runs, loads, sends, covers or hangs anything. */
import assert from "node:assert/strict";
import { withChromium, withPage } from "../../support/chromium.ts";
import { leastMainLoopGap } from "../../support/main_loop_gap.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted } from "../../support/mail_caller.ts";
import { partOrSkip } from "../../support/part.ts";
import { watchPage } from "../pages/watch_page.ts";
import { signedInBy } from "./browser_session.ts";
import { hostileMails } from "./hostile_mails.ts";
import { type MailboxWorld, makeMailboxWorld } from "./mailbox_world.ts";

// deno-lint-ignore no-explicit-any -- JSON of a test's own mails
async function inboundOf({ owner, helpdesk }: MailboxWorld): Promise<any[]> {
  const path = `/v1/mail/inboxes/${helpdesk.id}/messages?direction=inbound&limit=100`;
  return accepted(await owner.ask("GET", path), 200).data;
}

partOrSkip(
  "chromium",
  "some 60 hostile mails stay harmless in list, pane and frame",
  async (program) => {
    await using world = await makeMailboxWorld();
    const { relay, owner } = world;
    let asked = 0;
    await using elsewhere = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
      asked++;
      return new Response("");
    });
    const mails = hostileMails(`http://127.0.0.1:${elsewhere.addr.port}`);
    assert.ok(mails.length >= 60);
    for (const mail of mails) await world.come(mail);
    const messages = (await inboundOf(world)).slice(0, mails.length);
    assert.equal(messages.length, mails.length);
    const session = await signedInBy(relay.url, owner.key);
    let laidOut = 0;
    for (const { id } of messages) {
      const { text } = await session.get(`/mail/messages/${id}/html`);
      assert.doesNotMatch(
        text,
        /<(?:script|style|link|meta|form|input|i?frame|object|svg|base)\b/i,
      );
      assert.doesNotMatch(text, /<[^>]*\son[a-z]+=|href="(?!https?:|mailto:)|src="(?!data:image)/i);
      if (text.includes("the end")) laidOut++;
    }
    assert.ok(laidOut >= 50, `${laidOut} laid out`);
    const [name, value] = session.cookie.split("=");
    const looked = messages.filter((_, i) => isLong || i % 3 === 0);
    await withChromium(program, async (browser) => {
      await withPage(browser, { viewport: { width: 1280, height: 800 } }, async (page) => {
        await page.context().addCookies([{ name: name!, value: value!, url: relay.url }]);
        const { urls, complaints } = watchPage(page);
        let dialogs = 0;
        page.on("dialog", (dialog) => {
          dialogs++;
          void dialog.dismiss();
        });
        let framed = 0;
        for (const { thread_id } of looked) {
          await page.goto(`${relay.url}/mail/threads/${thread_id}`, { waitUntil: "load" });
          assert.match(await page.title(), / - Relay$/);
          assert.equal(await page.locator("h1").count(), 1);
          assert.equal(
            await page.locator("main script, main style, main form[action^=http]").count(),
            0,
          );
          const frame = page.frames().find((one) => one.url().endsWith("/html"));
          if (frame === undefined) continue;
          framed++;
          assert.equal(
            await frame.locator("script, style, link, meta, form, input, iframe, object, svg, base")
              .count(),
            0,
          );
          // It reaches neither the page around it nor the session.
          assert.equal(await frame.evaluate(() => globalThis.origin), "null");
        }
        assert.ok(framed >= looked.length - 8, `${framed} frames`);
        assert.equal(dialogs, 0);
        assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
        assert.deepEqual(complaints, []);
      });
    });
    assert.equal(asked, 0);
  },
);

Deno.test("the frame of an HTML answers under its own policy, attachments as what no browser runs", async () => {
  await using world = await makeMailboxWorld();
  const session = await signedInBy(world.relay.url, world.owner.key);
  const messages = await inboundOf(world);
  const newsletter = messages.find(({ subject }) => subject === "This week in printing");
  const { headers, text } = await session.get(`/mail/messages/${newsletter.id}/html`);
  assert.equal(
    headers.get("content-security-policy"),
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  );
  assert.match(text, /src="data:image\/png;base64,/);
  assert.match(
    text,
    /Not loaded from elsewhere:<ul><li>https:\/\/track\.example\/pixel\.gif<\/li>/,
  );
  assert.doesNotMatch(text, /secret preheader|<style|src="https?:/);
  const invoice = messages.find(({ subject }) => subject === "Invoice overdue");
  const file = await session.get(`/mail/messages/${invoice.id}/attachments/att_0`);
  assert.match(file.headers.get("content-disposition")!, /^attachment; filename="invoice\.pdf"/);
  assert.equal(file.headers.get("content-security-policy"), "sandbox; default-src 'none'");
  const source = await session.get(`/mail/messages/${invoice.id}/source`);
  assert.equal(source.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(source.text, /^Received:|^From:|^Authentication-Results:/);
});

Deno.test("a thread of mails that are nothing but links does not hold the relay up", async () => {
  await using world = await makeMailboxWorld();
  const session = await signedInBy(world.relay.url, world.owner.key);
  const links = "http://a.b <>&\n".repeat(4_300);
  for (let i = 0; i < 20; i++) {
    const answers = i === 0 ? "" : "In-Reply-To: <l0@else.test>\n";
    await world.come(
      `From: l@else.test\nMessage-ID: <l${i}@else.test>\n${answers}Subject: links\n\n${links}`,
    );
  }
  const [{ thread_id }] = await inboundOf(world);
  let text = "";
  const gapMs = await leastMainLoopGap(100, async () => {
    ({ text } = await session.get(`/mail/threads/${thread_id}`));
  });
  const shown = [...text.matchAll(/class="message/g)].length;
  const cut = [...text.matchAll(/Read the whole text/g)].length;
  assert.ok(shown > 10, `${shown} messages`);
  assert.equal(cut, shown - 1, "those that are closed have their beginning alone");
  assert.ok(text.length < 1_000_000, `${text.length} characters`);
  assert.ok(gapMs < 100, `${gapMs} ms`);
});

Deno.test("a mail of 25 MiB is read by its text, and its HTML is not laid out", async () => {
  await using world = await makeMailboxWorld();
  const session = await signedInBy(world.relay.url, world.owner.key);
  const line = `<p>${"word ".repeat(180)}</p>\n`;
  const head = "From: large@else.test\nSubject: large\nContent-Type: text/html\n\n";
  await world.come(head + line.repeat(Math.floor(24_000_000 / line.length)));
  const [message] = await inboundOf(world);
  assert.equal(message.subject, "large");
  const { status, text } = await session.get(`/mail/threads/${message.thread_id}`);
  assert.equal(status, 200);
  assert.ok(text.length < 400_000, `${text.length} characters`);
  assert.doesNotMatch(text, /<iframe/);
  assert.match(text, /Read the whole text/);
  const html = await session.get(`/mail/messages/${message.id}/html`);
  assert.match(html.text, /too large to be laid out/);
});
