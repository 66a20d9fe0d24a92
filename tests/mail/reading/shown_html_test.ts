/// <reference lib="dom" />
/** What the page of a draft shows of its HTML beside what is delivered, in a browser: equal pixels. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Browser, Page } from "playwright-core";
import PostalMime, { type Email } from "postal-mime";
import { withChromium, withPage } from "../../support/chromium.ts";
import { decide, makeDraftWorld, newestApproval, openPage } from "../../support/draft_world.ts";
import { hostileDrafts, OWN_PICTURE } from "../../support/hostile_drafts.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted } from "../../support/mail_caller.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { misplacedWords } from "../../support/misplaced_words.ts";
import { partOrSkip } from "../../support/part.ts";

/** At most ten mails ask an hour, and a new org sends to fifty recipients on its first day. */
const BETWEEN_DRAFTS_MS = 1_800_000;
const VIEW = { viewport: { width: 700, height: 600 } };
const picture = (content_id: string) => ({
  filename: "p.png",
  content_type: "image/png",
  content: OWN_PICTURE,
  content_id,
});

/** As a mail program shows it: the HTML, with the parts of that mail that it names by `cid:`. */
function shownByRecipient({ html, attachments }: Email): string {
  return html!.replaceAll(/ src="cid:([^"]+)"/g, (_, id) => {
    const part = attachments.find(({ contentId }) => contentId === `<${id}>`)!;
    const bytes = Buffer.from(part.content as ArrayBuffer);
    return ` src="data:${part.mimeType};base64,${bytes.toString("base64")}"`;
  });
}

/** The whole document as pixels, its words, and what was asked of others. */
async function look(page: Page, open: () => Promise<unknown>, own: string) {
  const foreign: string[] = [];
  const note = (request: { url(): string }) => {
    const url = request.url();
    if (url !== own && !url.startsWith("data:")) foreign.push(url);
  };
  page.on("request", note);
  await open();
  const pixels = await page.screenshot({ fullPage: true, animations: "disabled" });
  const words = await page.evaluate(() => document.body.innerText);
  const text = await page.evaluate(() => document.body.textContent);
  const misplaced = await page.evaluate(misplacedWords);
  page.off("request", note);
  return { pixels, words, text, misplaced, foreign };
}

const squeezed = (text: string | null) => text!.replaceAll(/\s+/g, "");

partOrSkip(
  "chromium",
  "what a person approves is what is delivered, pixel by pixel, for hostile drafts",
  async (program) => {
    await using relay = await startMailRelay();
    const { agent, inbox } = await makeDraftWorld(relay);
    const all = Object.entries(hostileDrafts("http://tracker.invalid"));
    assert.ok(all.length >= 60, `${all.length} drafts`);
    const drafts = all.filter((_, i) => isLong || i % 5 === 0);
    await withChromium(program, async (browser: Browser) => {
      await withPage(browser, { ...VIEW, javaScriptEnabled: true }, async (page) => {
        for (const [name, html] of drafts) {
          relay.clock.advance(BETWEEN_DRAFTS_MS);
          const send = `/v1/mail/inboxes/${inbox.id}/messages/send`;
          const body = {
            to: "reader@example.org",
            subject: name,
            html,
            attachments: ["own@example", "twice@example", "TWICE@example"].map(picture),
          };
          const { draft } = accepted(await agent.ask("POST", send, { body }), 202);
          const mail = await newestApproval(relay);
          assert.ok(mail.path.includes(draft.id), name);
          const shownPage = accepted(await openPage(relay, mail), 200);
          const address = /<iframe[^>]* src="([^"]+)"/.exec(shownPage)?.[1];
          assert.ok(address !== undefined, `${name}: ${draft.html}`);
          const frameUrl = relay.url + address.replaceAll("&amp;", "&");
          const approved = await look(page, () => page.goto(frameUrl), frameUrl);
          accepted(await decide(relay, mail, "approve"), 200);
          await relay.relay.crons.outgoing!();
          const { data: [{ n, subject }] } = (await askMail(relay.url, "GET", "/dev/mail")).body;
          assert.equal(subject, name);
          const raw = await (await fetch(`${relay.url}/dev/mail/${n}/raw`)).arrayBuffer();
          const delivered = await PostalMime.parse(raw);
          assert.equal(
            delivered.html!.replaceAll("\r\n", "\n").trimEnd(),
            draft.html.trimEnd(),
            name,
          );
          const url = "http://recipient.invalid/";
          await page.route(url, (route) =>
            route.fulfill({
              contentType: "text/html; charset=utf-8",
              body: shownByRecipient(delivered),
            }));
          const read = await look(page, () => page.goto(url), url);
          await page.unroute(url);
          assert.ok(Buffer.compare(approved.pixels, read.pixels) === 0, `${name}: other pixels`);
          assert.equal(approved.words, read.words, name);
          // Whatever stands in it shows: nothing is there for programs alone.
          assert.equal(squeezed(read.words), squeezed(read.text), name);
          assert.deepEqual(read.misplaced, [], name);
          assert.deepEqual([approved.foreign, read.foreign], [[], []], name);
        }
      });
    });
  },
);
