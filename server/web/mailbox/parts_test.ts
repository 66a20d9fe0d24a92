/** The parts of the pages for mail, by what they write. */
import assert from "node:assert/strict";
import { threadMs } from "../../../tests/support/thread_ms.ts";
import { mailRows } from "./mail_list.ts";
import { readingPane, sizeText, withLinks } from "./reading_pane.ts";
import { shortTime } from "./short_time.ts";
import type { MailLine, MailShown } from "./view_model.ts";

const NOW = Date.UTC(2026, 10, 23, 12);
const HOSTILE = `<script>alert(1)</script>"'\u202egpj.exe\u0007`;

const LINE: MailLine = {
  href: "/mail/1",
  who: HOSTILE,
  subject: HOSTILE,
  preview: HOSTILE,
  atMs: NOW,
  isUnread: true,
  isChosen: false,
  count: 1,
  code: HOSTILE,
  hasAttachments: true,
  chips: [{ word: HOSTILE, tone: "warn" }],
};

const MESSAGE: MailShown = {
  id: "m1",
  from: { name: HOSTILE, address: HOSTILE },
  to: Array.from({ length: 5_000 }, (_, i) => ({ name: null, address: `a${i}@example.org` })),
  cc: [{ name: HOSTILE, address: HOSTILE }],
  bcc: [],
  atMs: NOW,
  verdict: { word: "sender proven", tone: "ok", details: HOSTILE },
  chips: [],
  warnings: [HOSTILE],
  codes: [HOSTILE],
  text: `${HOSTILE} https://example.org/"onclick=x`,
  wholeHref: null,
  html: { src: "/mail/m/1/html", heightPx: 400 },
  links: [`javascript:alert(1)//${HOSTILE}`, `https://example.org/${HOSTILE}`],
  files: [{ name: HOSTILE, type: HOSTILE, sizeBytes: 1, href: "/mail/m/1/file" }],
  recipients: [{
    address: HOSTILE,
    steps: [{ word: "bounced", tone: "bad", atMs: null }],
    detail: HOSTILE,
  }],
  headers: [[HOSTILE, HOSTILE]],
  headersHref: null,
  rawHref: null,
  isOpen: true,
};

Deno.test("shortTime() tells times of a week by their age, others by their day", () => {
  const minute = 60_000;
  const ages = [0, 2 * minute, 180 * minute, 4 * 1440 * minute, 8 * 1440 * minute, -5 * minute];
  assert.deepEqual(
    [...ages.map((age) => shortTime(NOW - age, NOW)), shortTime(Date.UTC(2025, 0, 2), NOW)],
    ["now", "2 min", "3 h", "4 d", "Nov 15", "in 5 min", "Jan 2, 2025"],
  );
});

Deno.test("what strangers wrote becomes neither an element nor an attribute of rows and pane", async () => {
  const pane = readingPane({
    subject: HOSTILE,
    messages: [MESSAGE],
    nowMs: NOW,
    backHref: "/mail",
  });
  const page = `${await mailRows([LINE], NOW)}${await pane}`;
  assert.ok(page.includes("&lt;script&gt;"));
  assert.doesNotMatch(page, /<script|\u202e|href="javascript:|" onclick/);
  // Of 5,000 recipients a few are written.
  assert.ok(page.length < 20_000, `${page.length} characters`);
});

Deno.test("withLinks() links web addresses alone, without the stop behind them", async () => {
  const page = String(await withLinks("See https://example.org/a?b=1&c=2. Or javascript:alert(1)"));
  assert.deepEqual([...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href), [
    "https://example.org/a?b=1&amp;c=2",
  ]);
});

Deno.test("withLinks() takes linear time for text that is almost addresses", () => {
  const slow = "http://".repeat(20_000) + `http://${".".repeat(1_990)}x `.repeat(600);
  const beginMs = threadMs();
  withLinks(slow);
  assert.ok(threadMs() - beginMs < 500);
});

Deno.test("withLinks() links so many addresses alone: a stranger decides how many there are", async () => {
  const text = Array.from({ length: 6_000 }, (_, i) => `http://a/${i}`).join(" ");
  const page = String(await withLinks(text));
  assert.equal([...page.matchAll(/<a /g)].length, 200);
  assert.ok(page.endsWith("http://a/5998 http://a/5999"), "the others stay as text");
});

Deno.test("sizeText() rounds as people do", () => {
  assert.deepEqual([1, 999, 1_500, 123_456, 25_000_000].map(sizeText), [
    "1 byte",
    "999 bytes",
    "1.5 kB",
    "123 kB",
    "25 MB",
  ]);
});
