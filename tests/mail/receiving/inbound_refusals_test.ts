/** POST /v1/mail/inbound/raw: refusals before a recipient is looked up, and their order. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { parseConfig } from "../../../server/base/config/config.ts";
import { handIn, type InboundOptions, mailText, signInbound } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { askMail, type MailAnswer, startMailRelay } from "../../support/mail_relay.ts";
import { startTestRelay } from "../../support/relay.ts";

const PATH = "/v1/mail/inbound/raw";

async function post(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>,
): Promise<MailAnswer> {
  const answer = await fetch(`${url}${PATH}`, { method: "POST", headers, body });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text && JSON.parse(text) };
}

Deno.test("inbound/raw: without a secret it is 404, whatever the request says", async () => {
  const mail = {
    ...parseConfig({
      RELAY_MAIL_DOMAIN: "agents.test",
      RELAY_MAIL_FROM: "relay@else.test",
      RELAY_SMTP_URL: "smtp://127.0.0.1:1",
    }).mail,
  };
  await using relay = await startTestRelay({ config: { mail } });
  const signed = { to: ["a@agents.test"], raw: mailText(), timestamp: relay.clock.seconds() };
  assertMailRefused(await handIn(relay.url, signed), "not_found", /RELAY_MAIL_INBOUND_SECRET/);
  assertMailRefused(await post(relay.url, {}, "x"), "not_found", /RELAY_MAIL_INBOUND_SECRET/);
});

Deno.test("inbound/raw: other methods are 405, and no key or CORS plays a part", async () => {
  await using rig = await startInboundRig();
  const { url } = rig.relay;
  assertMailRefused(await askMail(url, "GET", PATH), "method_not_allowed");
  accepted(await rig.deliver({ headers: { Authorization: "Bearer nonsense" } }), 200);
});

Deno.test("inbound/raw: a missing or malformed envelope is 400 before anything of the signature", async () => {
  await using relay = await startMailRelay();
  const envelopes: (string | null)[] = [
    null,
    "",
    " ",
    "x",
    "[]",
    "null",
    '"a"',
    "{}",
    '{"from":"a@b.test"}',
    '{"to":["a@b.test"]}',
    '{"from":null,"to":["a@b.test"]}',
    '{"from":1,"to":["a@b.test"]}',
    '{"from":["a@b.test"],"to":["a@b.test"]}',
    '{"from":"a@b.test","to":[]}',
    '{"from":"a@b.test","to":"a@b.test"}',
    '{"from":"a@b.test","to":[1]}',
    '{"from":"a@b.test","to":[""]}',
    '{"from":"a@b.test","to":[null]}',
    '{"from":"a@b.test","to":{"0":"a@b.test","length":1}}',
    '{"from":"a@b.test","to":["a\\u0000@b.test"]}',
    '{"from":"a\\r\\nb@b.test","to":["a@b.test"]}',
    '{"from":"\\u00e4@b.test","to":["a@b.test"]}',
    '{"from":"\u00e4@b.test","to":["a@b.test"]}',
    '{"from":"a@b.test","to":["a@b.test"],"client_ip":"1.2.3"}',
    '{"from":"a@b.test","to":["a@b.test"],"client_ip":""}',
    '{"from":"a@b.test","to":["a@b.test"],"client_ip":7}',
    '{"from":"a@b.test","to":["a@b.test"],"client_helo":7}',
    `{"from":"a@b.test","to":["a@b.test"],"client_helo":"${"x".repeat(256)}"}`,
    `{"from":"${"x".repeat(400)}","to":["a@b.test"]}`,
    '{"from":"a@b.test","to":["a@b.test"],"from":"c@b.test"}',
    '{"from":"a@b.test","to":["a@b.test"]} x',
    '{"from":"a@b.test","to":["a@b.test"',
    JSON.stringify({ from: "a@b.test", to: Array.from({ length: 101 }, (_, i) => `a${i}@b.test`) }),
  ];
  assert.ok(envelopes.length > 0);
  for (const envelope of envelopes) {
    const headers: Record<string, string> = envelope === null
      ? {}
      : { "X-Relay-Envelope": envelope };
    const answer = await post(relay.url, headers, "x");
    assert.equal(answer.body.error?.code, "invalid_json", String(envelope).slice(0, 100));
    assertMailRefused(answer, "invalid_json", /X-Relay-Envelope/);
    assert.ok(
      !JSON.stringify(answer.body).includes("b.test"),
      "an address of the envelope is told",
    );
  }
});

Deno.test("inbound/raw: a missing or malformed header of the signature is 401 invalid_signature", async () => {
  await using relay = await startMailRelay();
  const options: InboundOptions = {
    to: ["nobody@agents.test"],
    raw: mailText(),
    timestamp: relay.clock.seconds(),
  };
  const { headers, body } = signInbound(options);
  const mac = headers["webhook-signature"]!;
  const changes: [string, string | null][] = [
    ["webhook-id", null],
    ["webhook-id", ""],
    ["webhook-id", "a b"],
    ["webhook-id", "x".repeat(256)],
    ["webhook-id", `${headers["webhook-id"]}x`],
    ["webhook-timestamp", null],
    ["webhook-timestamp", ""],
    ["webhook-timestamp", "now"],
    ["webhook-timestamp", "-1"],
    ["webhook-timestamp", `${headers["webhook-timestamp"]}.0`],
    ["webhook-timestamp", `0${headers["webhook-timestamp"]}`],
    ["webhook-timestamp", String(relay.clock.seconds() + 1)],
    ["webhook-signature", null],
    ["webhook-signature", ""],
    ["webhook-signature", mac.slice("v1,".length)],
    ["webhook-signature", mac.replace("v1,", "v2,")],
    ["webhook-signature", mac.replace("v1,", "v1a,")],
    ["webhook-signature", `${mac.slice(0, -4)}AAA=`],
    ["webhook-signature", "v1,AAAA"],
    ["webhook-signature", "v1,***"],
    ["X-Relay-Envelope", `${headers["X-Relay-Envelope"]} `.replace("nobody", "other")],
    ["X-Relay-Envelope", headers["X-Relay-Envelope"]!.replace(",", ", ")],
  ];
  assert.ok(changes.length > 0);
  for (const [name, value] of changes) {
    const changed = { ...headers };
    if (value === null) delete changed[name];
    else changed[name] = value;
    const answer = await post(relay.url, changed, body);
    assertMailRefused(answer, "invalid_signature");
    assert.ok(!JSON.stringify(answer.body).includes(mac.slice(3)), "a signature is told");
  }
  const longer = new Uint8Array([...body, 10]);
  assertMailRefused(await post(relay.url, headers, longer), "invalid_signature");
  assertMailRefused(await post(relay.url, headers, body.slice(1)), "invalid_signature");
  assertMailRefused(await post(relay.url, headers, ""), "invalid_signature");
  const otherSecret = signInbound({ ...options, secret: new Uint8Array(32).fill(8) });
  assertMailRefused(await post(relay.url, otherSecret.headers, body), "invalid_signature");
  // What none of them has changed gets past the signature.
  assertMailRefused(await post(relay.url, headers, body), "not_found");
});

Deno.test("inbound/raw: one good signature of several is enough, in any place", async () => {
  await using rig = await startInboundRig();
  const { url, clock } = rig.relay;
  const { headers, body } = signInbound({
    to: [rig.inbox.address],
    raw: mailText(),
    timestamp: clock.seconds(),
  });
  const wrong = `v1,${createHmac("sha256", "other").update("x").digest("base64")}`;
  const good = headers["webhook-signature"]!;
  const all = ["v1a,abc", wrong, good, "v2,x", wrong].join(" ");
  accepted(await post(url, { ...headers, "webhook-signature": all }, body), 200);
  assertMailRefused(
    await post(url, { ...headers, "webhook-signature": `${wrong} ${wrong}` }, body),
    "invalid_signature",
  );
  assert.equal(TEST_INBOUND_SECRET.length, 32);
});

Deno.test("inbound/raw: a timestamp is good for 300 seconds both ways, to the second", async () => {
  await using rig = await startInboundRig();
  const { clock } = rig.relay;
  const now = clock.seconds();
  for (const off of [-300, 300]) {
    accepted(await rig.deliver({ timestamp: now + off }), 200);
  }
  for (const off of [-301, 301, -86_400, 10 ** 12]) {
    assertMailRefused(await rig.deliver({ timestamp: now + off }), "timestamp_out_of_range");
  }
  // The time is looked at before the bytes: an old capture is told so though its body is another.
  const { headers } = signInbound({ to: [rig.inbox.address], raw: "x", timestamp: now - 301 });
  assertMailRefused(await post(rig.relay.url, headers, "y"), "timestamp_out_of_range");
});

Deno.test("inbound/raw: 25 MiB are taken and one more byte is 413, with Content-Length and without", async () => {
  await using rig = await startInboundRig();
  const { url, clock } = rig.relay;
  const limit = 25 * 2 ** 20;
  const raw = new Uint8Array(limit + 1).fill(97);
  for (let i = 76; i < raw.length; i += 78) raw.set([13, 10], i);
  raw.set(new TextEncoder().encode(mailText({ text: "" })));
  const options = { to: [rig.inbox.address], timestamp: clock.seconds() };
  const most = raw.subarray(0, limit);
  const large = signInbound({ ...options, raw });
  assertMailRefused(await post(url, large.headers, raw), "payload_too_large");
  const streamed = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(raw);
      controller.close();
    },
  });
  assertMailRefused(await post(url, large.headers, streamed), "payload_too_large");
  assert.equal((await rig.list()).data.length, 0);
  accepted(await rig.deliver({ raw: most }), 200);
  const { data: [row] } = await rig.list();
  assert.equal(row.size, limit);
  const given = await fetch(`${url}/v1/mail/messages/${row.id}/raw`, {
    headers: { Authorization: `Bearer ${rig.holder.key}` },
  });
  assert.ok(equalBytes(new Uint8Array(await given.arrayBuffer()), most), "other bytes came back");
});

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

Deno.test("inbound/raw: an encoded body is 400, and nothing of it is stored", async () => {
  await using rig = await startInboundRig();
  const zipped = new Response(
    new Blob([mailText()]).stream().pipeThrough(new CompressionStream("gzip")),
  );
  const raw = new Uint8Array(await zipped.arrayBuffer());
  const answer = await rig.deliver({ raw, headers: { "Content-Encoding": "gzip" } });
  assertMailRefused(answer, "invalid_json", /encod/i);
  assert.equal((await rig.list()).data.length, 0);
});

Deno.test("inbound/raw: an empty message and bytes that are no message are stored as they are", async () => {
  await using rig = await startInboundRig();
  const raws = ["", "\r\n", "\0\xff\0", ":\n:\n:", "no header at all"];
  assert.ok(raws.length > 0);
  for (const raw of raws) {
    accepted(await rig.deliver({ raw }), 200);
    const { data: [row] } = await rig.list("?limit=1");
    const whole = await rig.get(`/v1/mail/messages/${row.id}`);
    assert.equal(whole.from, null);
    assert.equal(whole.size, new TextEncoder().encode(raw).length);
  }
  assert.equal((await rig.list()).data.length, raws.length);
});
