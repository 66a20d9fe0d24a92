/** What the relay gives of HTML, beside what a browser shows of it. */
import assert from "node:assert/strict";
import { htmlToText } from "../../../../server/mail/reading/html/html_text.ts";
import { withChromium, withPage } from "../../../support/chromium.ts";
import { isLong } from "../../../support/long_test.ts";
import { partOrSkip } from "../../../support/part.ts";
import { RENDERED_MAILS, UNSEEN } from "./rendered_mails.ts";

/**
 * Runs in the page. Words that the relay writes where a browser draws something are put there: where a
 * link leads, what a picture says, and the marks of lists.
 */
const INNER_TEXT = `(() => {
  for (const link of document.querySelectorAll("a[href^=http]")) {
    link.append(" [" + link.getAttribute("href") + "]");
  }
  for (const picture of document.querySelectorAll("img")) {
    picture.replaceWith(picture.getAttribute("alt") ?? "");
  }
  for (const item of document.querySelectorAll("li")) {
    item.prepend(item.parentElement.localName === "ol" ? item.value + ". " : "- ");
  }
  for (const list of document.querySelectorAll("ol")) {
    let next = list.start;
    for (const item of list.children) {
      if (item.hasAttribute("value")) next = item.value;
      item.firstChild.data = next++ + ". ";
    }
  }
  return document.body.innerText;
})()`;

/** Words in order; the marks of quotes are left out. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => !/^>*$/.test(word));

const MAILS = RENDERED_MAILS.filter((_, i) => isLong || i % 4 === 0);

partOrSkip(
  "chromium",
  `htmlToText() gives what Chromium shows of ${MAILS.length} mails`,
  async (chromium) => {
    assert.equal(RENDERED_MAILS.length, 200);
    const wrong: unknown[] = [];
    let differing = 0;
    await withChromium(
      chromium,
      (browser) =>
        withPage(browser, { javaScriptEnabled: false, offline: true }, async (page) => {
          for (const { name, html, reason } of MAILS) {
            await page.goto(`data:text/html;charset=utf-8,${encodeURIComponent(html)}`);
            const shown = wordsOf(await page.evaluate(INNER_TEXT) as string);
            const { text } = htmlToText(html);
            const ours = wordsOf(text);
            const seen = reason === undefined ? shown : shown.filter((word) => word !== UNSEEN);
            if (seen.length < shown.length) differing++;
            if (ours.join(" ") !== seen.join(" ")) {
              wrong.push({ name, ours: ours.join(" "), shown: shown.join(" ") });
            }
          }
        }),
    );
    assert.deepEqual(wrong, []);
    // The reasons are none that have come to nothing.
    assert.equal(differing, MAILS.filter(({ reason }) => reason !== undefined).length);
  },
);
