/** `relay webhook listen`: what it prints, answers and refuses, and that it is bounded. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { run } from "../../toolkit/cli/run.ts";
import { nodeHttp } from "../../toolkit/node/http_receiver.ts";
import { partOrSkip } from "../support/part.ts";
import { startTestServer } from "../support/test_server.ts";
import { memoryHost, type MemoryHostState } from "./memory_host.ts";
import { followProgram, onDeno, ONLINE, onNode, type Program } from "./relay_program.ts";

const BASE64 = btoa("0123456789abcdefghijklmnopqrstuv");
const SECRET = `rmwh_${BASE64}`;
const PERSON = { name: null, address: "ann@example.org" };
const MESSAGE = { direction: "inbound", from: PERSON, to: [], subject: "Hello \u202e\x1b[2J" };

function eventOf(type: string, data: unknown = {}) {
  const ids = { id: `evt_${type}`, org_id: "org_1", inbox_id: null };
  return { ...ids, type, timestamp: "2026-01-01T00:00:00.000Z", data };
}

function signed(event: unknown, secret = BASE64, atMs = Date.now()): RequestInit {
  const body = JSON.stringify(event);
  const { id } = event as { id: string };
  const seconds = Math.floor(atMs / 1000);
  return {
    method: "POST",
    body,
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": new Webhook(secret).sign(id, new Date(seconds * 1000), body),
    },
  };
}

async function statusOf(url: string, init: RequestInit): Promise<number> {
  const answer = await fetch(url, init);
  assert.equal(await answer.text(), "");
  return answer.status;
}

/** The verb on a free port; `end` interrupts it. */
async function listen(args: readonly string[] = [], state: MemoryHostState = {}) {
  const interruption = new AbortController();
  const env = { RELAY_WEBHOOK_SECRET: SECRET };
  const host = memoryHost(["webhook", "listen", "--port", "0", ...args], {
    env,
    interruption: interruption.signal,
    ...state,
  });
  let url: string | undefined;
  const opened = new Promise<string>((resolve) => {
    const { stderr } = host;
    Object.assign(host, {
      async stderr(said: string) {
        await stderr(said);
        url ??= /http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0];
        if (url !== undefined) resolve(url);
      },
    });
  });
  const ended = run(host);
  return {
    host,
    url: await opened,
    end() {
      interruption.abort();
      return ended;
    },
  };
}

Deno.test("relay webhook listen prints verified events, one a line, safe for terminals", async () => {
  const { host, url, end } = await listen();
  const recipient = { address: "bob@example.net", status: "bounced", enhanced_code: "5.1.1" };
  const outbound = { ...MESSAGE, direction: "outbound", subject: null };
  const to = ["a", "b", "c", "d"].map((name) => ({ name, address: `${name}@example.org` }));
  const events = [
    eventOf("webhook.test"),
    eventOf("message.received", { message: MESSAGE, thread: {}, truncated: false }),
    eventOf("message.bounced", { message: outbound, thread: {}, truncated: false, recipient }),
    eventOf("message.sent", { message: { ...outbound, to }, thread: {}, truncated: false }),
    eventOf("draft.created", { draft: { to: to.slice(0, 1), subject: "A draft" } }),
    eventOf("thing.of_later", { message: null, other: 1 }),
  ];
  for (const event of events) assert.equal(await statusOf(`${url}any/path`, signed(event)), 204);
  assert.equal(await end(), 0);
  const time = "2026-01-01T00:00:00.000Z";
  assert.deepEqual(host.out.split("\n"), [
    `evt_webhook.test  webhook.test  ${time}`,
    `evt_message.received  message.received  ${time}  from ann@example.org  ` +
    `"Hello \\u{202e}\\u001b[2J"`,
    `evt_message.bounced  message.bounced  ${time}  to bob@example.net: bounced 5.1.1`,
    `evt_message.sent  message.sent  ${time}  to a@example.org, b@example.org, c@example.org and 1 more`,
    `evt_draft.created  draft.created  ${time}  to a@example.org  "A draft"`,
    `evt_thing.of_later  thing.of_later  ${time}`,
    "",
  ]);
  assert.match(host.err, /: 6 verified, 0 refused\n$/);
  await assert.rejects(fetch(url), "it has closed its port");
});

Deno.test("relay webhook listen tells why a delivery does not verify, and counts it", async () => {
  const { host, url, end } = await listen(["--json"]);
  const event = eventOf("webhook.test");
  const other = btoa("another secret of thirty-two by.");
  assert.equal(await statusOf(url, signed(event, other)), 401);
  assert.equal(await statusOf(url, { method: "POST", body: "{}" }), 401);
  assert.equal(await statusOf(url, signed(event, BASE64, Date.now() - 301_000)), 401);
  assert.equal(await statusOf(url, signed(event, BASE64, Date.now() + 302_000)), 401);
  assert.equal(await statusOf(url, signed({ id: "evt_1" })), 401);
  assert.equal(await statusOf(url, {}), 405);
  assert.equal(await statusOf(url, signed(event)), 204);
  assert.equal(await end(), 0);
  assert.deepEqual(JSON.parse(host.out), event);
  const reasons = host.err.match(/(?<=refused: )[^:\n]+/g);
  assert.deepEqual(reasons, [
    ...["no_match", "missing_header", "too_old", "too_new", "bad_json"],
    "GET, not POST",
  ]);
  assert.match(host.err, /: 1 verified, 6 refused\n$/);
});

Deno.test("relay webhook listen takes secrets from a file, several while one is rotated", async () => {
  const other = btoa("another secret of thirty-two by.");
  const files = { "webhook.secret": `${SECRET}\nwhsec_${other}\n` };
  const { url, end } = await listen(["--secret-file", "webhook.secret"], { files, env: {} });
  for (const secret of [BASE64, other]) {
    assert.equal(await statusOf(url, signed(eventOf("webhook.test"), secret)), 204);
  }
  assert.equal(await end(), 0);
});

Deno.test("relay webhook listen hands on what verifies, and answers as the program behind it", async () => {
  const answers = [200, 503];
  const got: { body: string; headers: Headers }[] = [];
  const program = startTestServer(async (request) => {
    got.push({ body: await request.text(), headers: request.headers });
    return new Response("thanks", { status: answers.shift() });
  });
  const target = `http://127.0.0.1:${program.port}/hook`;
  const { host, url, end } = await listen(["--forward", target], { fetch });
  const delivery = signed(eventOf("webhook.test"));
  const headers = delivery.headers as Record<string, string>;
  assert.equal(await statusOf(url, { ...delivery, headers: { ...headers, Cookie: "a=b" } }), 200);
  assert.equal(await statusOf(url, delivery), 503);
  assert.equal(await statusOf(url, { method: "POST", body: "{}" }), 401);
  await program.close();
  assert.equal(await statusOf(url, delivery), 502);
  assert.equal(await end(), 0);
  assert.equal(got.length, 2);
  for (const request of got) {
    assert.equal(request.body, delivery.body);
    assert.equal(request.headers.get("cookie"), null);
    for (const [name, value] of Object.entries(headers)) {
      assert.equal(request.headers.get(name), value);
    }
  }
  assert.match(host.err, /handed on, answered 200\n[^]*answered 503\n[^]*not handed on: /);
  assert.match(host.err, /: 3 verified, 1 refused\n$/);
});

Deno.test("relay webhook listen ends with 2 without a secret, a port or a URL, repeating no secret", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cases: [string[], Record<string, string>, RegExp][] = [
    [[], {}, /there is no secret: set RELAY_WEBHOOK_SECRET, or pass --secret-file F/],
    [[], { RELAY_WEBHOOK_SECRET: `${SECRET} hunter2` }, /must be base64 of at least 24 bytes/],
    [["--port", "65536"], {}, /--port takes a whole number from 0 to 65535/],
    [["--forward", "ftp://x.test"], {}, /--forward takes a URL of http or https/],
    [["--port", String(taken.addr.port)], {}, /cannot listen on port \d+: another program has it/],
    [["--secret-file", "gone"], {}, /cannot read 'gone': there is no such file/],
    [["more"], {}, /unexpected argument 'more'/],
  ];
  for (const [args, env, words] of cases) {
    const own = /secret/.test(String(words)) || args.includes("gone") ? env : {
      RELAY_WEBHOOK_SECRET: SECRET,
      ...env,
    };
    const host = memoryHost(["webhook", "listen", ...args], { env: own });
    assert.equal(await run(host), 2, String(words));
    assert.match(host.err, words);
    assert.ok(!host.err.includes("hunter2") && !host.err.includes(BASE64));
  }
});

Deno.test("receiveHttp() cuts off large bodies and slow clients", async () => {
  const bounds = { bodyBytes: 1_000, requestMs: 100, connections: 10 };
  const bodies: number[] = [];
  const receiver = await nodeHttp.receiveHttp(0, bounds, ({ body }) => {
    bodies.push(body.length);
    return body.length === 3 ? Promise.reject(new Error("no")) : Promise.resolve(204);
  });
  const url = `http://127.0.0.1:${receiver.port}/`;
  const post = (body: BodyInit) => statusOf(url, { method: "POST", body });
  assert.equal(await post(new Uint8Array(1_000)), 204);
  assert.equal(await post("abc"), 500);
  assert.equal(await post(new Uint8Array(1_001)), 413);
  const endless = connect(receiver.port, "127.0.0.1");
  endless.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  endless.write(`800\r\n${"x".repeat(2048)}\r\n`);
  assert.match(await text(endless), /^HTTP\/1\.1 413 /);
  for (
    const beginning of [
      "",
      "POST / HTTP/1.1\r\nHost:",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab",
    ]
  ) {
    const slow = connect(receiver.port, "127.0.0.1");
    if (beginning !== "") slow.write(beginning);
    assert.match(await text(slow), /^HTTP\/1\.1 408 |^$/, beginning);
  }
  const waiting = connect(receiver.port, "127.0.0.1");
  await once(waiting, "connect");
  const closed = once(waiting, "close");
  await receiver.close();
  await closed;
  assert.deepEqual(bodies, [1_000, 3]);
});

async function works(program: Program): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "relay-listen-" });
  try {
    const env = { RELAY_WEBHOOK_SECRET: SECRET };
    const listening = followProgram(program, ["webhook", "listen", "--port=0"], { home, env });
    const [url] = /http:\S+\//.exec(await listening.told(/listening at/))!;
    assert.equal(await statusOf(url, signed(eventOf("webhook.test"))), 204);
    assert.equal(await statusOf(url, { method: "POST", body: new Uint8Array(2 ** 20 + 1) }), 413);
    assert.match((await listening.lines(1))[0]!, /^evt_webhook\.test {2}webhook\.test {2}/);
    assert.equal(await listening.end("SIGINT"), 0);
    await listening.told(/1 verified, 0 refused/);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("relay webhook listen works on Deno", () => works(onDeno(ONLINE)));
for (const node of ["node", "node22"] as const) {
  partOrSkip(node, `relay webhook listen works on ${node}`, async (program) => {
    const folder = await Deno.makeTempDir({ prefix: "relay-listen-" });
    try {
      await works(onNode(program, folder));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
