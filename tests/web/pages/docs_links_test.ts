/** The documentation that a relay serves: every page, in HTML and Markdown, and where its links lead. */
import assert from "node:assert/strict";
import { LIMIT_NOTES } from "../../../server/base/description/schemas/limit_notes.ts";
import { ERROR_STATUS } from "../../../server/base/errors.ts";
import { ask, assertRefused } from "../../support/answer.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";

const GUIDES = [
  "start",
  "verify",
  "mcp",
  "command-line",
  "client",
  "digest",
  "errors",
  "limits",
  "operate",
  "security",
];

async function page(relay: TestRelay, path: string): Promise<string> {
  const answer = await ask(relay.url + path, { headers: { Accept: "text/html" } });
  assert.equal(answer.status, 200, path);
  return answer.text;
}

/** Paths of all pages below /docs, as its own links lead to them. */
async function walk(relay: TestRelay): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const waiting = ["/docs", "/verify"];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const text = await page(relay, path);
    pages.set(path, text);
    for (const target of linksOf(text)) {
      const [file = ""] = target.split("#");
      const isPage = /^\/docs(?:\/|$)/.test(file) && !/^\/docs\/try|\.md$/.test(file);
      if (isPage) waiting.push(file);
    }
  }
  return pages;
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) =>
    target!.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)).replaceAll("&amp;", "&")
  );
}

Deno.test("every link of the documentation leads somewhere, and to a heading where it names one", async () => {
  await using relay = await startMailRelay();
  const pages = await walk(relay);
  assert.ok(pages.size > 50, String(pages.size));
  const paths = [...pages.keys()];
  for (const slug of [...GUIDES, "mail"]) assert.ok(paths.includes(`/docs/${slug}`), slug);
  assert.ok(paths.filter((path) => path.startsWith("/docs/reference/")).length > 40);
  const ids = new Map(paths.map((path) => [
    path,
    new Set([...pages.get(path)!.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)),
  ]));
  const known = new Set(paths);
  for (const [path, text] of pages) {
    for (const target of linksOf(text)) {
      if (/^https?:/.test(target) && !target.startsWith(`${relay.url}/`)) continue;
      const [file = "", anchor] = target.replace(relay.url, "").split("#");
      const place = file === "" ? path : file;
      assert.match(place, /^\//, `${path}: ${target}`);
      if (!known.has(place)) {
        assert.equal((await ask(relay.url + place)).status, 200, `${path}: ${target}`);
        known.add(place);
      }
      if (anchor !== undefined) assert.ok(ids.get(place)?.has(anchor), `${path}: ${target}`);
    }
  }
});

Deno.test("each page is there in Markdown, and llms.txt leads to all of it", async () => {
  await using relay = await startTestRelay();
  const index = await ask(`${relay.url}/llms.txt`);
  assert.equal(index.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(index.text, /^# Agent Messaging Relay\n\n> /);
  const links = [...index.text.matchAll(/^- \[[^\]]+\]\((\S+)\)/gm)].map(([, link]) => link!);
  const sources = links.filter((link) => link.endsWith(".md"));
  assert.ok(sources.length > 30, String(sources.length));
  const full = (await ask(`${relay.url}/llms-full.txt`)).text;
  for (const link of sources) {
    assert.ok(link.startsWith(`${relay.url}/docs/`), link);
    const { status, headers, text } = await ask(link);
    assert.equal(status, 200, link);
    assert.equal(headers.get("content-type"), "text/markdown; charset=utf-8");
    assert.match(text, /^# \S/, link);
    assert.ok(full.includes(text), `${link} is in llms-full.txt`);
    const targets = [...text.replace(/```[^]*?```|`[^`\n]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)];
    for (const [, target] of targets) assert.match(target!, /^(?:\/|#|https?:)/, link);
    const html = await page(relay, link.slice(relay.url.length).replace(/\.md$/, ""));
    assert.ok(html.includes(`href="${link.slice(relay.url.length)}"`), link);
  }
  for (const path of ["/docs/index.md", "/docs/reference.md"]) {
    assert.match((await ask(relay.url + path)).text, /^# /);
  }
});

Deno.test("the reference shows each operation of the API, those of mail while mail is on", async () => {
  const operationIds = async (relay: TestRelay) =>
    [...(await page(relay, "/docs/reference")).matchAll(/"\/docs\/reference\/([A-Za-z]+)"/g)]
      .map(([, id]) => id!);
  await using off = await startTestRelay();
  await using on = await startMailRelay();
  const [shownOff, shownOn] = [await operationIds(off), await operationIds(on)];
  for (const id of ["register", "sendMessage", "readInbox", "readLimits", "banAgent"]) {
    assert.ok(shownOff.includes(id), id);
  }
  assert.deepEqual(shownOff.filter((id) => /mail|inboxes|org/i.test(id)), []);
  const ofMail = shownOn.filter((id) => !shownOff.includes(id));
  assert.ok(ofMail.length >= 15, ofMail.join());
  assertRefused(await ask(`${off.url}/docs/reference/${ofMail[0]}`), "not_found");
  assertRefused(await ask(`${off.url}/docs/mail`), "not_found");
  assert.doesNotMatch(await page(off, "/docs/operate"), /href="\/docs\/mail/);
  const send = await page(on, "/docs/reference/sendMessage");
  for (
    const part of [
      "<code>POST /v1/messages</code>",
      `curl -sS &#34;${on.url}/v1/messages&#34;`,
      "choice-teaberry-goldcrest",
      "<code>recipient_banned</code>",
      "<details><summary>Errors that most routes share</summary>",
    ]
  ) {
    const where = part.startsWith("choice") ? await page(on, "/docs/reference/readInbox") : send;
    assert.ok(where.includes(part), part);
  }
});

Deno.test("limits, errors and addresses in the documentation are those of the relay", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 77 } });
  const limits = await page(relay, "/docs/limits");
  assert.match(limits, /<code>sendsPerAgentPerMinute<\/code><\/td>\s*<td[^>]*>77 \(usually 60\)/);
  const named = Object.keys(LIMIT_NOTES).filter((name) => limits.includes(`<code>${name}</code>`));
  assert.deepEqual(named, Object.keys(LIMIT_NOTES).filter((name) => !name.startsWith("mail")));
  const errors = await page(relay, "/docs/errors");
  for (const code of Object.keys(ERROR_STATUS)) assert.ok(errors.includes(`<code>${code}</code>`));
  const start = await page(relay, "/docs/start");
  assert.ok(start.includes(`RELAY=${relay.url}`));
  assert.ok(!start.includes("127.0.0.1:8000"));
});

Deno.test("what is no page of the documentation is not found", async () => {
  await using relay = await startTestRelay();
  const paths = [
    "/docs/",
    "/docs/nothing",
    "/docs/start.html",
    "/docs/START",
    "/docs/constructor",
    "/docs/README.md",
    "/docs/reference/",
    "/docs/reference/nothing",
    "/docs/reference/readDocs",
    "/docs/reference/__proto__.md",
    "/verify/",
    "/verify/other.html",
  ];
  assert.equal(paths.length, 12);
  for (const path of paths) assertRefused(await ask(relay.url + path), "not_found");
});

Deno.test("the verifier is the file of the repository, under its own policy, inside the relay's pages alone", async () => {
  await using relay = await startTestRelay();
  const file = await Deno.readTextFile(new URL("../../../docs/verify.html", import.meta.url));
  const served = await ask(`${relay.url}/verify/verify.html`);
  assert.equal(served.text, file);
  assert.equal(served.headers.get("content-type"), "text/html; charset=utf-8");
  const own = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(file)![1]!;
  assert.match(own, /^default-src 'none'; script-src 'sha256-[^ ]+'; style-src 'sha256-/);
  assert.equal(served.headers.get("content-security-policy"), `${own}; frame-ancestors 'self'`);
  const around = await ask(`${relay.url}/verify`);
  const policy = around.headers.get("content-security-policy")!;
  assert.match(policy, /script-src 'self'; .*frame-ancestors 'none'; frame-src 'self'$/);
  assert.match(around.text, /Good for a look, not for proof/);
  assert.match(around.text, /<noscript>[^]*scripts are turned off/);
});
