/// <reference lib="dom" />
// Over 300 lines: the receiver, its list and its pages, over one world that delivers to it.
/** /dev/webhooks: what its receiver keeps, checks and answers, and its pages with hostile deliveries. */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import type { KnownWebhook, RecentDelivery } from "../../../server/web/dev/local_webhooks.ts";
import { webhookRoutes } from "../../../server/web/dev/webhook_routes.ts";
import { ask, assertRefused } from "../../support/answer.ts";
import { startApp } from "../../support/app_server.ts";
import { withChromium, withPage } from "../../support/chromium.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { exchange } from "../../support/raw_http.ts";
import { startTestRelay } from "../../support/relay.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const BASE64 = btoa("0123456789abcdefghijklmnopqrstuv");
const OTHER = btoa("another secret of thirty-two by.");
const NOBODYS = btoa("nobody's secret of thirty-two b");
const HTML = { headers: { Accept: "text/html" } };
const HOSTILE = `</pre><script>document.title = "run"</script>"'\u202e`;
const WEBHOOK: KnownWebhook = {
  id: "wh_1",
  url: "https://elsewhere.example/hook",
  secrets: [`rmwh_${BASE64}`],
};
const POINTS_HERE: KnownWebhook = {
  id: "wh_2",
  url: "http://localhost:1/dev/webhooks/receiver/demo?status=500",
  secrets: [`rmwh_${OTHER}`],
};

interface World extends AsyncDisposable {
  url: string;
  known: KnownWebhook[];
  deliveries: RecentDelivery[];
  endWaits(): void;
  /** POSTs to a receiver. @returns the answer's status, text and Retry-After */
  deliver(target: string, body: unknown, options?: Signing): Promise<Delivered>;
}

interface Signing {
  secret?: string;
  ageSeconds?: number;
  headers?: Record<string, string>;
}

interface Delivered {
  status: number;
  text: string;
  retryAfter: string | null;
}

const eventOf = (id: string, data: unknown = {}) => ({
  ...{ id, type: "message.received", timestamp: "2026-01-01T00:00:00.000Z", org_id: "org_1" },
  ...{ inbox_id: null, data },
});

async function startWorld(): Promise<World> {
  const known = [WEBHOOK];
  const deliveries: RecentDelivery[] = [];
  const bodies = createBodyReader();
  const { routes, endWaits } = webhookRoutes({
    baseUrl: "http://127.0.0.1:1",
    now: () => NOW_MS,
    webhooks: {
      known: () => Promise.resolve(known),
      recentDeliveries: () => Promise.resolve(deliveries),
    },
  });
  const app = await startApp(routes, { bodies });
  return {
    url: app.url,
    known,
    deliveries,
    endWaits,
    async deliver(target, event, { secret = BASE64, ageSeconds = 0, headers } = {}) {
      const body = typeof event === "string" ? event : JSON.stringify(event);
      const seconds = NOW_MS / 1000 - ageSeconds;
      const signature = new Webhook(secret).sign("evt_1", new Date(seconds * 1000), body);
      const answer = await fetch(`${app.url}/dev/webhooks/receiver/${target}`, {
        method: "POST",
        body,
        headers: {
          "Content-Type": "application/json",
          "webhook-id": "evt_1",
          "webhook-timestamp": String(seconds),
          "webhook-signature": signature,
          ...headers,
        },
      });
      const retryAfter = answer.headers.get("retry-after");
      return { status: answer.status, text: await answer.text(), retryAfter };
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      bodies.close();
    },
  };
}

Deno.test("the receiver keeps what comes, and tells whose secret signed it", async () => {
  await using world = await startWorld();
  const { url, known, deliver } = world;
  assert.deepEqual((await ask(`${url}/dev/webhooks`)).json, {
    data: [],
    next_cursor: null,
    deliveries: [],
  });
  const event = eventOf("evt_1", { note: "Gr\u00fc\u00dfe" });
  const taken = { status: 204, text: "", retryAfter: null };
  assert.deepEqual(await deliver("demo", event), taken);
  await deliver("demo", event, { secret: OTHER });
  known.push(POINTS_HERE);
  await deliver("demo", event, { secret: NOBODYS });
  await deliver("demo", event, { secret: OTHER });
  await deliver("other", event, { secret: NOBODYS });
  await deliver("demo", event, { ageSeconds: 301 });
  await deliver("demo", event, { headers: { "webhook-signature": "" } });
  await deliver("demo", "no JSON");
  const { data } = (await ask(`${url}/dev/webhooks`)).json;
  assert.deepEqual(
    data.map((row: Record<string, unknown>) => [row.n, row.signature, row.webhook_id, row.type]),
    [
      [8, "ok", "wh_1", null],
      [7, "missing", null, "message.received"],
      [6, "bad time", null, "message.received"],
      [5, "unknown secret", null, "message.received"],
      [4, "ok", "wh_2", "message.received"],
      [3, "wrong", null, "message.received"],
      [2, "unknown secret", null, "message.received"],
      [1, "ok", "wh_1", "message.received"],
    ],
  );
  const detail = (await ask(`${url}/dev/webhooks/1`)).json;
  assert.equal(detail.at, "2026-01-01T00:00:00.000Z");
  assert.deepEqual([detail.receiver, detail.event_id, detail.status], ["demo", "evt_1", 204]);
  assert.equal(detail.target, "/dev/webhooks/receiver/demo");
  assert.equal(detail.headers["webhook-id"], "evt_1");
  assert.deepEqual(JSON.parse(detail.body), event);
  const raw = await ask(`${url}/dev/webhooks/1/raw`, HTML);
  assert.equal(raw.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(raw.text, JSON.stringify(event));
});

Deno.test("the receiver answers as its URL says, so often as it says", async () => {
  await using world = await startWorld();
  const { url, deliver, endWaits } = world;
  const first = eventOf("evt_1");
  const statusOf = async (target: string, event: unknown = first) =>
    (await deliver(target, event)).status;
  const words = (status: number) => `${status}, as the query of this receiver says\n`;
  assert.deepEqual(await deliver("a?status=429&retry_after=7", first), {
    status: 429,
    text: words(429),
    retryAfter: "7",
  });
  for (const status of [200, 205, 302, 304, 410, 500, 599]) {
    assert.equal(await statusOf(`a?status=${status}`), status);
  }
  const target = "b?status=503&times=2";
  assert.deepEqual([await statusOf(target), await statusOf(target)], [503, 503]);
  assert.deepEqual([await statusOf(target), await statusOf(target)], [204, 204]);
  assert.equal(await statusOf(target, eventOf("evt_2")), 503, "another event counts by itself");
  assert.equal(await statusOf("c?status=503&times=0"), 204);
  for (const query of ["status=x", "times=", "delay_ms=1e3", "status=500&status=500"]) {
    const answer = await ask(`${url}/dev/webhooks/receiver/a?${query}`, { method: "POST" });
    assertRefused(answer, "invalid_json", /query parameter/);
  }
  assert.equal(await statusOf("a?status=1000"), 599, "clamped as integers of queries are");
  const held = deliver("d?delay_ms=60000&status=500", first);
  // It is kept when it came, not when it is answered.
  let kept = 0;
  do kept = (await ask(`${url}/dev/webhooks`)).json.data[0].status; while (kept !== 500);
  endWaits();
  assert.equal((await held).status, 500);
  assert.equal(await statusOf("d?delay_ms=60000"), 204, "nothing waits at a relay that ends");
});

Deno.test("the receiver keeps the newest 100, and 8 MiB of them", async () => {
  await using world = await startWorld();
  const { url, deliver } = world;
  for (let n = 0; n < 101; n++) await deliver("demo", "x");
  const numbers = async () =>
    (await ask(`${url}/dev/webhooks`)).json.data.map(({ n }: { n: number }) => n);
  assert.deepEqual(await numbers(), Array.from({ length: 100 }, (_, i) => 101 - i));
  assertRefused(await ask(`${url}/dev/webhooks/1`), "not_found", /no captured request/);
  const large = "x".repeat(250 * 1024);
  for (let n = 0; n < 40; n++) await deliver("demo", large);
  assert.equal((await numbers()).length, 32);
  const refused = await ask(`${url}/dev/webhooks/receiver/demo`, {
    method: "POST",
    body: large + large,
  });
  assertRefused(refused, "payload_too_large");
});

Deno.test("the receiver has its own paths, methods and headers, and is open to this machine alone", async () => {
  await using relay = await startMailRelay();
  const list = `${relay.url}/dev/webhooks`;
  for (const init of [{}, HTML]) {
    const { headers, status } = await ask(list, init);
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("vary"), "Accept");
    assert.equal(headers.get("access-control-allow-origin"), null);
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
  }
  for (const path of ["/1", "/0", "/x", "/1/raw", "/receiver", `/receiver/${"a".repeat(65)}`]) {
    const method = path.startsWith("/receiver/") ? "POST" : "GET";
    assertRefused(await ask(list + path, { method }), "not_found");
  }
  for (const name of ["a%20b", "a.b", "\u00fc"]) {
    assertRefused(await ask(`${list}/receiver/${name}`, { method: "POST" }), "not_found", /name/);
  }
  assertRefused(await ask(`${list}/receiver/demo`), "method_not_allowed");
  assertRefused(await ask(list, { method: "POST" }), "method_not_allowed");
  const delivered = await ask(`${list}/receiver/demo`, { method: "POST", body: "x" });
  assert.equal(delivered.status, 204);
  const own = `Host: 127.0.0.1:${relay.port}`;
  for (
    const headers of [
      "Host: relay.example",
      `${own}\r\nOrigin: http://evil.example`,
      `${own}\r\nX-Forwarded-For: 127.0.0.1`,
    ]
  ) {
    for (
      const line of [
        "GET /dev/webhooks",
        "GET /dev/webhooks/1",
        "GET /dev/webhooks/1/raw",
        "POST /dev/webhooks/receiver/demo",
      ]
    ) {
      const request = `${line} HTTP/1.1\r\n${headers}\r\nContent-Length: 0\r\n\r\n`;
      const answer = await exchange(relay.port, request);
      assert.equal(answer!.status, 403, `${line} ${headers}`);
      assert.match(answer!.body, /"the receiver of webhooks of local mode is/);
    }
  }
  assert.equal((await ask(list)).json.data.length, 1);
});

Deno.test("in every other mode /dev/webhooks is unknown", async () => {
  await using relay = await startTestRelay();
  for (const path of ["", "/1", "/1/raw", "/receiver/demo"]) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      assertRefused(await ask(`${relay.url}/dev/webhooks${path}`, { method }), "not_found");
    }
  }
});

/** Deliveries of every kind, hostile ones among them. */
async function fill({ url, known, deliver, deliveries }: World): Promise<void> {
  known.push(POINTS_HERE);
  const target = "demo?status=500&times=1";
  const thread = { id: "thr_1", subject: "Hello" };
  const message = { id: "msg_1", subject: HOSTILE, from: { name: null, address: "a@x.test" } };
  const event = eventOf("evt_01JZ0000000000000000000000", { message, thread, truncated: false });
  await deliver(target, event);
  await deliver(target, event);
  await deliver("demo", event, { secret: NOBODYS });
  await deliver("demo", HOSTILE, { headers: { "x-hostile": `<b>"'` } });
  const row = { webhook_id: "wh_1", url: `${url}/dev/webhooks/receiver/${target}` };
  const attempt = {
    ...row,
    ...{ id: "dlv_1", event_id: event.id, type: event.type, attempt: 1, duration_ms: 12 },
    at: new Date(NOW_MS).toISOString(),
    error: null,
  };
  deliveries.push(
    { ...attempt, attempt: 2, status: 204, response: "", next_attempt_at: null },
    {
      ...attempt,
      status: 500,
      response: HOSTILE,
      next_attempt_at: new Date(NOW_MS + 5_000).toISOString(),
    },
    {
      ...attempt,
      url: `https://x.test/${"long/".repeat(30)}?<b>`,
      status: null,
      error: "blocked_address",
      response: "",
      next_attempt_at: new Date(NOW_MS + 300_000).toISOString(),
    },
  );
}

Deno.test("pages of webhooks hold no element of what was delivered or answered", async () => {
  await using world = await startWorld();
  const empty = await ask(`${world.url}/dev/webhooks`, HTML);
  assert.match(empty.text, /No attempt yet[^]*Nothing yet[^]*receiver\/demo\?status=500/);
  await fill(world);
  for (const path of ["", "/1", "/4"]) {
    const { text, status, headers } = await ask(`${world.url}/dev/webhooks${path}`, HTML);
    assert.equal(status, 200);
    assert.match(headers.get("content-security-policy")!, /^default-src 'none'/);
    const scripts = text.match(/<script[^>]*>/g) ?? [];
    assert.deepEqual(
      scripts.filter((script) => !/^<script type="module" src="\/assets\//.test(script)),
      [],
    );
    assert.doesNotMatch(text, /\u202e|<b>/);
    assert.match(text, /&lt;script&gt;/);
  }
});

partOrSkip(
  "chromium",
  "the page of webhooks brings itself up to date, and has no faults in both lights",
  async (program) => {
    await using world = await startWorld();
    const page = `${world.url}/dev/webhooks`;
    await withChromium(program, async (browser) => {
      await withPage(browser, {}, async (tab) => {
        const complaints: string[] = [];
        tab.on("pageerror", (error) => void complaints.push(error.message));
        tab.on("console", (line) => void (line.type() === "error" && complaints.push(line.text())));
        await tab.goto(page);
        await fill(world);
        await tab.waitForSelector("#received li");
        assert.equal(await tab.locator("#received li").count(), 4);
        assert.equal(await tab.locator("#deliveries li").count(), 3);
        assert.match(
          await tab.locator("#received li").last().innerText(),
          /^message\.received signature ok answered 500/,
        );
        assert.match(await tab.locator("#deliveries li").last().innerText(), /blocked_address/);
        await tab.click("#deliveries summary");
        assert.match(await tab.locator("#deliveries pre").innerText(), /^<\/pre><script>/);
        await tab.click("#deliveries li:first-child a");
        assert.match(await tab.title(), /^message\.received - /);
        assert.match(await tab.locator("pre").innerText(), /^\{\n {2}"id": "evt_01JZ/);
        assert.deepEqual(complaints, []);
      });
      for (const size of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
        for (const colorScheme of ["light", "dark"] as const) {
          const look = { viewport: size, colorScheme, bypassCSP: true };
          await withPage(browser, look, async (tab) => {
            for (const path of ["", "/1"]) {
              await tab.goto(page + path);
              if (path === "") await tab.click("summary");
              await loadAxe(tab);
              await expectNoFaults(tab);
            }
          });
        }
      }
    });
  },
);
