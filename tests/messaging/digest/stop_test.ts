import assert from "node:assert/strict";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";
import type { TestAgent } from "../../support/test_agent.ts";
import { type DigestBench, HOUR_MS, setEmail, startDigestBench } from "./digest_bench.ts";

const READER = "reader@example.net";
const UNKNOWN_TOKEN = `rt_unsub_${"A".repeat(43)}`;
const STOPPED = "No more unread digests will come from this relay to this address.";
/** As a browser sends it. */
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

interface Scene {
  bench: DigestBench;
  bob: TestAgent;
  /** Mails since the last call: makes these agents due, runs the sweep. */
  mailsAfter(...handles: string[]): Promise<string[]>;
  /** The unsubscribe link of bob's next digest. */
  link(): Promise<string>;
}

function stopTest(name: string, test: (scene: Scene) => Promise<void>): void {
  Deno.test(name, async () => {
    await using smtp = await startSmtpServer();
    await using bench = await startDigestBench({ smtpPort: smtp.port });
    const bob = await bench.agent("bob", READER);
    const mailsAfter = async (...handles: string[]) => {
      smtp.received.length = 0;
      bench.relay.clock.advance(6 * HOUR_MS + 1);
      for (const to of handles) await bob.sent({ to, body: "hello" });
      await bench.sweep();
      return smtp.received.map(({ to }) => to.join());
    };
    await test({
      bench,
      bob,
      mailsAfter,
      async link() {
        await mailsAfter("bob");
        const mail = await parseMail(smtp.received[0]!);
        return mail.headers.find(({ key }) => key === "list-unsubscribe")!.value.slice(1, -1);
      },
    });
  });
}

const press = (url: string) => ask(url, { method: "POST", headers: BROWSER });

/** Where the one button of a page leads. */
function buttonOf(answer: Answer, pageUrl: string): string {
  const actions = [...answer.text.matchAll(/<form method="post" action="([^"]+)">/g)];
  assert.equal(actions.length, 1, answer.text);
  return new URL(actions[0]![1]!.replaceAll("&amp;", "&"), pageUrl).href;
}

function assertPage(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  assert.equal(answer.headers.get("access-control-allow-origin"), null);
  const policy = answer.headers.get("content-security-policy")!;
  assert.match(policy, /default-src 'none'.*form-action 'self';.*frame-ancestors 'none'$/);
  assert.doesNotMatch(answer.text, /<script|https?:|src="(?!\/assets\/)|\bon[a-z]+=/i);
}

/** Follows the pages from a link to the second button; gives the answer to it. */
async function stop(link: string): Promise<Answer> {
  const page = await press(link);
  assertPage(page);
  return await press(buttonOf(page, link));
}

Deno.test("twenty agents that name one mailbox by plus-addresses get it four digests in a sweep", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const handles = Array.from({ length: 20 }, (_, i) => `agent_${i}`);
  const sender = await bench.agent("sender");
  for (const [i, handle] of handles.entries()) await bench.agent(handle, `reader+${i}@example.net`);
  bench.relay.clock.advance(1_000);
  for (const to of handles) await sender.sent({ to, body: "hello" });
  await bench.sweep();
  assert.equal(smtp.received.length, 4);
});

stopTest(
  "the second button stops digests of every agent to the mailbox, for a year",
  async (scene) => {
    const { bench, bob, mailsAfter, link } = scene;
    await bench.agent("carol", READER);
    await bench.agent("dave", "Reader+dave@Example.net");
    await bench.agent("erin", "erin@example.net");
    assertPage(await stop(await link()));
    const others = ["carol", "dave", "erin"];
    assert.deepEqual(await mailsAfter("bob", ...others), ["erin@example.net"]);
    await setEmail(bob, READER); // answers 200 as ever
    await bench.agent("frank", "reader+frank@example.net");
    assert.deepEqual(await mailsAfter("bob", "frank", ...others), ["erin@example.net"]);
    bench.relay.clock.advance(365 * 24 * HOUR_MS);
    assert.equal((await mailsAfter("carol")).length, 1);
  },
);

stopTest("the first button ends the digests of that agent alone", async ({ bench, ...scene }) => {
  await bench.agent("carol", READER);
  assertPage(await press(await scene.link()));
  assert.deepEqual(await scene.mailsAfter("bob", "carol"), [READER]);
});

stopTest(
  "pages are the same for every link, and the button of an unknown one stops nobody",
  async (scene) => {
    const { bench, link, mailsAfter } = scene;
    const known = await link();
    const unknown = `${bench.relay.url}/v1/notifications/unsubscribe?token=${UNKNOWN_TOKEN}`;
    const shape = ({ text, headers }: Answer) => [
      text.replace(/token=rt_stop_[A-Za-z0-9_-]{96}"/, "TOKEN"),
      ...[...headers].filter(([name]) => name !== "x-request-id" && name !== "date"),
    ];
    const pages = [
      await press(unknown),
      await press(known),
      await press(known),
      await press(unknown),
    ];
    const tokens = pages.map((page, i) =>
      buttonOf(page, [unknown, known, known, unknown][i]!).split("token=")[1]!
    );
    for (const page of pages) assert.deepEqual(shape(page), shape(pages[0]!));
    assert.equal(tokens[0], tokens[3], "one link, one token at one time, known or not");
    assert.equal(tokens[1], tokens[2]);
    await setEmail(scene.bob, READER);
    const before = await Array.fromAsync(bench.relay.deps.kv.list({ prefix: [] }));
    const answer = await press(buttonOf(pages[0]!, unknown));
    const after = await Array.fromAsync(bench.relay.deps.kv.list({ prefix: [] }));
    assert.deepEqual(
      after.map(({ key }) => key),
      before.map(({ key }) => key),
      "nothing is stored",
    );
    assertPage(answer);
    assert.deepEqual(await mailsAfter("bob"), [READER]);
  },
);

stopTest(
  "a token that is altered, foreign or an hour old stops nobody, and says nothing of it",
  async (scene) => {
    const { bench, bob, link, mailsAfter } = scene;
    const url = await link();
    const button = buttonOf(await press(url), url);
    await setEmail(bob, READER);
    const token = button.split("token=")[1]!;
    const stopUrl = `${bench.relay.url}/v1/notifications/stop?token=`;
    for (const at of [8, 30, 103]) {
      const other = token[at] === "A" ? "B" : "A";
      const altered = token.slice(0, at) + other + token.slice(at + 1);
      assert.equal((await ask(stopUrl + altered, { method: "POST" })).text, STOPPED);
    }
    for (const foreign of ["x", url.split("token=")[1]!, "a".repeat(5_000)]) {
      assert.equal((await ask(stopUrl + foreign, { method: "POST" })).text, STOPPED);
    }
    bench.relay.clock.advance(HOUR_MS);
    assert.equal((await ask(button, { method: "POST" })).text, STOPPED);
    assert.deepEqual(await mailsAfter("bob"), [READER]);
  },
);

stopTest(
  "a link that was used once, by a mail program or GET, still leads to the second button",
  async (scene) => {
    const { bob, link, mailsAfter } = scene;
    const url = await link();
    const line = await ask(url, { headers: BROWSER });
    assert.equal(line.headers.get("content-type"), "text/plain; charset=utf-8", "GET is one line");
    await setEmail(bob, READER);
    await stop(url);
    assert.deepEqual(await mailsAfter("bob"), []);
  },
);

stopTest(
  "the page behind a digest's other link has no effect until its button is pressed",
  async (scene) => {
    const { bench, link, mailsAfter } = scene;
    const token = (await link()).split("token=")[1]!;
    const url = `${bench.relay.url}/v1/notifications?token=${token}`;
    const page = await ask(url, { headers: BROWSER });
    assertPage(page);
    assert.equal((await ask(url, { method: "HEAD" })).status, 200);
    assert.deepEqual(await mailsAfter("bob"), [READER]);
    const answer = await stop(buttonOf(page, url));
    assertPage(answer);
    assert.deepEqual(await mailsAfter("bob"), []);
    const quoted = await ask(`${bench.relay.url}/v1/notifications?token=%22%3E%3Cb%3E`);
    assert.doesNotMatch(quoted.text, /<b>/);
  },
);

Deno.test("a digest is not sent after the stop, whether it waits for its next hop or for the word to begin", async () => {
  await using smtp = startScriptedSmtp();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const bob = await bench.agent("bob", READER);
  bench.relay.clock.advance(1_000);
  await bob.sent({ to: "bob", body: "hello" });
  await bench.sweep();
  assert.equal(smtp.contents.length, 1);
  const [link] = /http:\S+unsubscribe\?token=[\w-]+/.exec(smtp.contents[0]!)!;
  const page = await press(link);
  for (const handle of ["carol", "dave"]) await bench.agent(handle, READER);
  bench.relay.clock.advance(1_000);
  await bob.sent({ to: "carol", body: "hello" });
  smtp.script({ RCPT: { reply: "451 busy" } });
  await bench.sweep();
  await bob.sent({ to: "dave", body: "hello" });
  smtp.script({ DATA: "silence" });
  const reached = smtp.reached("DATA");
  const sweeping = bench.sweep();
  await reached;
  await press(buttonOf(page, link));
  smtp.script({});
  smtp.release("354 go on");
  await sweeping;
  bench.relay.clock.advance(5 * 60_000);
  await bench.deliver();
  assert.equal(smtp.contents.length, 1);
});

stopTest("the button of one relay stops nobody at another", async ({ link }) => {
  const url = await link();
  const page = await press(url);
  await using smtp = await startSmtpServer();
  await using other = await startDigestBench({ smtpPort: smtp.port });
  const bob = await other.agent("bob", READER);
  const button = new URL(buttonOf(page, url));
  assert.equal(
    (await ask(other.relay.url + button.pathname + button.search, { method: "POST" })).text,
    STOPPED,
  );
  other.relay.clock.advance(1_000);
  await bob.sent({ to: "bob", body: "hello" });
  await other.sweep();
  assert.equal(smtp.received.length, 1);
});

stopTest(
  "stop refuses a missing token, other methods and large bodies; nothing of it is logged",
  async (scene) => {
    const { bench, link } = scene;
    const url = `${bench.relay.url}/v1/notifications/stop`;
    for (const query of ["", "?token=", "?token=a&token=b"]) {
      assertRefused(await ask(url + query, { method: "POST" }), "invalid_json", /token/);
      const page = `${bench.relay.url}/v1/notifications${query}`;
      assertRefused(await ask(page), "invalid_json", /token/);
    }
    assertRefused(await ask(`${url}?token=a`), "method_not_allowed");
    const large = await ask(`${url}?token=a`, { method: "POST", body: "a".repeat(256 * 1024 + 1) });
    assertRefused(large, "payload_too_large");
    await stop(await link());
    const log = JSON.stringify(bench.relay.logged);
    assert.doesNotMatch(log, /rt_stop_|rt_unsub_|reader@/);
    const rows = await Array.fromAsync(bench.relay.deps.kv.list({ prefix: ["digest-stop"] }));
    assert.equal(rows.length, 1);
    assert.doesNotMatch(JSON.stringify(rows), /reader|example\.net/);
  },
);
