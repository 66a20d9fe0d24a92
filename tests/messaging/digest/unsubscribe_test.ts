import assert from "node:assert/strict";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";
import type { TestAgent } from "../../support/test_agent.ts";
import { type DigestBench, HOUR_MS, setEmail, startDigestBench } from "./digest_bench.ts";

const READER = "reader@example.net";
const PATH = "/v1/notifications/unsubscribe";
const CONFIRMATION = "No more unread digests will come to this address for this agent.";
/** Well-formed, and nobody's. */
const UNKNOWN_TOKEN = `rt_unsub_${"A".repeat(43)}`;

interface Scene {
  bench: DigestBench;
  bob: TestAgent;
  /** Makes bob's next digest due, lets it be sent and gives its link; null when none came. */
  nextLink(): Promise<string | null>;
}

function linkTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  options: { shared?: boolean } = {},
): void {
  Deno.test(name, async () => {
    await using smtp = await startSmtpServer();
    await using bench = await startDigestBench({
      smtpPort: smtp.port,
      relay: { config: { sharedStore: options.shared ?? false } },
    });
    const bob = await bench.agent("bob", READER);
    await test({
      bench,
      bob,
      async nextLink() {
        smtp.received.length = 0;
        bench.relay.clock.advance(6 * HOUR_MS + 1);
        await bob.sent({ to: "bob", body: "hello" });
        await bench.sweep();
        if (smtp.received.length === 0) return null;
        const mail = await parseMail(smtp.received[0]!);
        const header = mail.headers.find(({ key }) => key === "list-unsubscribe")!.value;
        return header.slice(1, -1);
      },
    });
  });
}

function assertConfirmed(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.text, CONFIRMATION);
}

const post = (url: string, init: RequestInit = {}) => ask(url, { method: "POST", ...init });

for (const shared of [false, true]) {
  const store = shared ? "a shared" : "an exclusive";
  linkTest(`the link of a digest unsubscribes once, by GET, on ${store} store`, async (scene) => {
    const { bob, nextLink } = scene;
    const link = (await nextLink())!;
    assertConfirmed(await ask(link));
    assert.equal(await nextLink(), null);
    // Set again, it is another subscription: the old link has no effect on it.
    await setEmail(bob, READER);
    const second = await nextLink();
    assert.notEqual(second, null);
    assert.notEqual(second, link);
    assertConfirmed(await ask(link));
    assert.notEqual(await nextLink(), null);
  }, { shared });
}

linkTest("the link of a digest unsubscribes once by one-click POST (RFC 8058)", async (scene) => {
  const { bob, nextLink } = scene;
  const link = (await nextLink())!;
  assertConfirmed(
    await post(link, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    }),
  );
  assert.equal(await nextLink(), null);
  await setEmail(bob, READER);
  assertConfirmed(await post(link));
  assert.notEqual(await nextLink(), null);
});

linkTest(
  "all digests of a subscription carry one token, and any of them ends it",
  async (scene) => {
    const { nextLink } = scene;
    const first = (await nextLink())!;
    assert.equal(await nextLink(), first);
    assertConfirmed(await ask(first));
    assert.equal(await nextLink(), null);
  },
);

linkTest("a changed address has another token, and the old one ends nothing", async (scene) => {
  const { bob, nextLink } = scene;
  const first = (await nextLink())!;
  await setEmail(bob, "other@example.net");
  assertConfirmed(await ask(first));
  const second = await nextLink();
  assert.notEqual(second, null);
  assert.notEqual(second, first);
});

linkTest("an address cleared and set again has another token", async ({ bob, nextLink }) => {
  const first = (await nextLink())!;
  await setEmail(bob, null);
  await setEmail(bob, READER);
  assertConfirmed(await ask(first));
  const second = await nextLink();
  assert.notEqual(second, null);
  assert.notEqual(second, first);
});

linkTest("many presses at one time are one", async ({ bob, nextLink }) => {
  const link = (await nextLink())!;
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => i % 2 === 0 ? ask(link) : post(link)),
  );
  for (const answer of answers) assertConfirmed(answer);
  await setEmail(bob, READER);
  assert.notEqual(await nextLink(), null);
});

linkTest("the answer is the same for every token, but for the request id", async (scene) => {
  const { bench, nextLink } = scene;
  const link = (await nextLink())!;
  const seen = new Set<string>();
  for (
    const token of [
      UNKNOWN_TOKEN,
      "x",
      "%E2%82%AC",
      "%20",
      "%C3%A9%00",
      "a".repeat(5_000),
      null,
      null,
    ]
  ) {
    const url = token === null ? link : `${bench.relay.url}${PATH}?token=${token}`;
    for (const answer of [await ask(url), await post(url)]) {
      assertConfirmed(answer);
      const headers = [...answer.headers].filter(([name]) =>
        name !== "x-request-id" && name !== "date"
      );
      seen.add(JSON.stringify(headers));
    }
  }
  assert.equal(seen.size, 1);
});

linkTest("a missing, empty or repeated token is 400 invalid_json", async ({ bench }) => {
  for (
    const query of ["", "?", "?token=", "?token", "?other=1", "?token=a&token=b", "?token=%ZZ"]
  ) {
    for (const method of ["GET", "POST"]) {
      const answer = await ask(`${bench.relay.url}${PATH}${query}`, { method });
      assertRefused(answer, "invalid_json", /token/);
    }
  }
});

linkTest("HEAD has no effect and no body", async ({ nextLink }) => {
  const link = (await nextLink())!;
  const answer = await ask(link, { method: "HEAD" });
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  assert.equal(answer.headers.get("content-length"), String(CONFIRMATION.length));
  assert.notEqual(await nextLink(), null);
});

linkTest(
  "POST ignores its body, of any type or none, within the limits of bodies",
  async (scene) => {
    const { bench } = scene;
    const url = `${bench.relay.url}${PATH}?token=${UNKNOWN_TOKEN}`;
    assertConfirmed(await post(url));
    assertConfirmed(await post(url, { body: "{not json" }));
    assertConfirmed(await post(url, { body: new FormData() }));
    assertRefused(await post(url, { body: "a".repeat(256 * 1024 + 1) }), "payload_too_large");
    const encoded = await post(url, { body: "x", headers: { "Content-Encoding": "gzip" } });
    assertRefused(encoded, "invalid_json");
  },
);

linkTest("other methods are 405 and credentials are ignored", async ({ bench, bob }) => {
  const url = `${bench.relay.url}${PATH}?token=${UNKNOWN_TOKEN}`;
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    const answer = await ask(url, { method });
    assertRefused(answer, "method_not_allowed");
    const allowed = answer.headers.get("allow")!.split(", ").sort();
    assert.deepEqual(allowed, ["GET", "HEAD", "OPTIONS", "POST"]);
  }
  const forged = { "X-Relay-Pubkey": "1", "X-Relay-Signature": "x", Authorization: "Bearer x" };
  assertConfirmed(await ask(url, { headers: forged }));
  assertConfirmed(await bob.bearer("GET", PATH, { query: `token=${UNKNOWN_TOKEN}` }));
});

linkTest("neither token nor address reaches the log", async ({ bench, nextLink }) => {
  const link = (await nextLink())!;
  await ask(link);
  const log = JSON.stringify(bench.relay.logged);
  assert.ok(!log.includes("rt_unsub_") && !log.includes(READER), log);
});
