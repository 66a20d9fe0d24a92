import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { memoryHost, type MemoryHostState } from "../../tests/toolkit/memory_host.ts";
import { run } from "./run.ts";

const SECRET = `whsec_${btoa("0123456789abcdefghijklmn")}`;
const ENV = { RELAY_URL: "https://relay.example", RELAY_MAIL_INBOUND_SECRET: SECRET };
const MAIL = "Subject: hello\n\nworld\n";
const INJECT = ["mail", "inject", "--from=a@example.org", "--retry-for=0"];
const clock = { now: () => 1_760_000_000_000, after: () => () => {} };

interface Sent {
  headers: Headers;
  body: string;
}

/** Runs the verb against one answer. */
async function inject(
  args: readonly string[],
  answer: Response | Error | ((to: string[]) => Response),
  state: MemoryHostState = {},
) {
  const sent: Sent[] = [];
  const host = memoryHost(args, {
    env: ENV,
    stdin: MAIL,
    clock,
    fetch: (_, init) => {
      const body = new TextDecoder("latin1").decode(init!.body as Uint8Array<ArrayBuffer>);
      sent.push({ headers: new Headers(init!.headers), body });
      if (answer instanceof Error) return Promise.reject(answer);
      const { to } = JSON.parse(sent.at(-1)!.headers.get("x-relay-envelope")!);
      return Promise.resolve(answer instanceof Response ? answer : answer(to));
    },
    ...state,
  });
  return { code: await run(host), out: host.out, err: host.err, sent };
}

const NOBODY = "no recipient of this message has an inbox here that takes it (blocked: 1)";
const taken = () => Response.json({ accepted: ["b@relay.example"], rejected: [] });
const refused = (status: number, code: string, message = "why") =>
  Response.json({ error: { code, message } }, { status });

Deno.test("mail inject hands over the message with its envelope, signed", async () => {
  const args = [
    ...INJECT,
    "--client-ip=192.0.2.1",
    "--helo=mx.example.org",
    "--to=b@relay.example",
    "--",
    "-c@relay.example",
  ];
  const { code, out, err, sent } = await inject(args, taken());
  assert.deepEqual([code, out, err], [0, "accepted b@relay.example\n", ""]);
  assert.equal(sent.length, 1);
  const { headers, body } = sent[0]!;
  assert.equal(body, MAIL);
  const envelope = headers.get("x-relay-envelope")!;
  assert.deepEqual(JSON.parse(envelope), {
    from: "a@example.org",
    to: ["b@relay.example", "-c@relay.example"],
    client_ip: "192.0.2.1",
    client_helo: "mx.example.org",
  });
  const signed = `${headers.get("webhook-id")}.1760000000.${envelope}.${MAIL}`;
  const mac = createHmac("sha256", "0123456789abcdefghijklmn").update(signed).digest("base64");
  assert.equal(headers.get("webhook-signature"), `v1,${mac}`);
});

Deno.test("mail inject leaves out the From line of mailboxes, and nothing that looks like it", async () => {
  const bodies: [string, string][] = [
    [`From a@example.org Thu Jan  1 00:00:00 2026\n${MAIL}`, MAIL],
    [`From a@example.org Thu Jan  1 00:00:00 2026\r\n${MAIL}`, MAIL],
    [`From: a@example.org\n${MAIL}`, `From: a@example.org\n${MAIL}`],
    [`>From a\n${MAIL}`, `>From a\n${MAIL}`],
    ["From ", "From "],
    ["", ""],
  ];
  for (const [stdin, expected] of bodies) {
    const { code, sent } = await inject([...INJECT, "b@relay.example"], taken(), { stdin });
    assert.equal(code, 0);
    assert.equal(sent[0]!.body, expected);
  }
});

Deno.test("mail inject leaves out what mail servers write where there was no client", async () => {
  for (const none of ["", "unknown", "local"]) {
    const args = [...INJECT, `--client-ip=${none}`, "--helo=", "b@relay.example"];
    const { sent } = await inject(args, taken());
    assert.deepEqual(JSON.parse(sent[0]!.headers.get("x-relay-envelope")!), {
      from: "a@example.org",
      to: ["b@relay.example"],
    });
  }
  const { sent } = await inject([...INJECT, "--client-ip=2001:db8::1", "b@c.example"], taken());
  assert.equal(JSON.parse(sent[0]!.headers.get("x-relay-envelope")!).client_ip, "2001:db8::1");
});

Deno.test("mail inject ends as mail servers know it, and says why in one line", async () => {
  const answers: [Response | Error, number][] = [
    [taken(), 0],
    [new TypeError("no network"), 75],
    [refused(408, "request_timeout"), 75],
    [refused(429, "rate_limited"), 75],
    [refused(500, "internal"), 75],
    [refused(503, "unavailable"), 75],
    [refused(503, "mail_disabled"), 75],
    [new Response("a proxy", { status: 502 }), 75],
    [new Response("no JSON"), 75],
    [refused(404, "not_found", NOBODY), 67],
    [refused(404, "not_found"), 78],
    [new Response("a proxy", { status: 404 }), 78],
    [new Response(null, { status: 301, headers: { Location: "/" } }), 78],
    [refused(405, "method_not_allowed"), 78],
    [refused(400, "invalid_json"), 65],
    [refused(413, "payload_too_large"), 65],
    [refused(401, "invalid_signature"), 77],
    [refused(401, "timestamp_out_of_range"), 77],
  ];
  for (const [answer, expected] of answers) {
    const { code, out, err } = await inject([...INJECT, "b@relay.example"], answer);
    assert.equal(code, expected, err);
    assert.equal(`${out}${err}`.split("\n").length, 2, "one line");
    assert.ok(!err.includes(SECRET));
  }
  const { err } = await inject([...INJECT, "b@relay.example"], refused(404, "not_found", NOBODY));
  assert.match(err, /refused \(not_found\): no recipient .* \(blocked: 1\)\n$/);
});

Deno.test("mail inject ends with 67 and names everyone where some have it and some never will", async () => {
  const answer = () =>
    Response.json({
      accepted: ["b@relay.example"],
      rejected: [{ address: "c@relay.example", code: "not_found" }],
    });
  const args = [...INJECT, "b@relay.example", "c@relay.example"];
  const line = "accepted b@relay.example; rejected c@relay.example (not_found)\n";
  const { code, out, err, sent } = await inject(args, answer);
  assert.deepEqual([code, out, err, sent.length], [67, "", `relay mail inject: ${line}`, 1]);
  const json = await inject([...args, "--json"], answer);
  assert.equal(json.code, 67);
  assert.deepEqual(JSON.parse(json.out).rejected, [{
    address: "c@relay.example",
    code: "not_found",
  }]);
});

Deno.test("mail inject tries recipients singly where some have to wait, and waits for these alone", async () => {
  const busy = () => refused(503, "unavailable", "1 of 3 recipients have no room");
  const fates: Record<string, () => Response> = {
    "b@relay.example": taken,
    "full@relay.example": busy,
    "gone@relay.example": () => refused(404, "not_found", NOBODY),
  };
  const relay = (to: string[]) => to.length > 1 ? busy() : fates[to[0]!]!();
  const ask = (...to: string[]) => inject([...INJECT, "--", ...to], relay);
  const all = await ask(...Object.keys(fates));
  assert.equal(all.code, 75);
  assert.equal(
    all.err,
    "relay mail inject: accepted b@relay.example; rejected full@relay.example (unavailable), " +
      "gone@relay.example (not_found)\n",
  );
  assert.equal(all.sent.length, 4);
  // There is room meanwhile.
  assert.equal((await ask("b@relay.example", "gone@relay.example")).code, 67);
  assert.equal((await ask("b@relay.example", "b@relay.example")).code, 0);
  // What is about the relay is about all of them.
  for (
    const answer of [() => refused(503, "mail_disabled"), () => refused(401, "invalid_signature")]
  ) {
    const { code, sent } = await inject([...INJECT, "b@relay.example", "c@relay.example"], answer);
    assert.deepEqual([code, sent.length], [answer().status === 503 ? 75 : 77, 1]);
  }
});

Deno.test("mail inject tells wrong usage and wrong settings from what passes", async () => {
  const files = { short: "c2hvcnQ=", good: `${SECRET}\n` };
  const to = "b@relay.example";
  const { RELAY_URL } = ENV;
  const cases: [string[], MemoryHostState, number, RegExp][] = [
    [["mail", "inject", to], {}, 64, /--from=ADDRESS/],
    [INJECT, {}, 64, /RECIPIENT/],
    [[...INJECT, "--nonsense", to], {}, 64, /nonsense/],
    [[...INJECT, ...Array(101).fill(to)], {}, 64, /unexpected argument|at most 100/],
    [[...INJECT, to], { env: { RELAY_URL } }, 78, /there is no secret/],
    [[...INJECT, to], { env: { ...ENV, RELAY_URL: "" } }, 78, /which relay/],
    [[...INJECT, "--relay=ftp://x", to], {}, 78, /--relay/],
    [[...INJECT, "--secret-file=gone", to], { files }, 78, /cannot read 'gone'/],
    [[...INJECT, "--secret-file=short", to], { files }, 78, /at least 24 bytes/],
    [[...INJECT, "--message=gone", to], { files }, 75, /cannot read 'gone'/],
    [[...INJECT, "--secret-file=good", to], { files, env: { RELAY_URL } }, 0, /^$/],
  ];
  for (const [args, state, expected, words] of cases) {
    const { code, err, sent } = await inject(args, taken(), state);
    assert.equal(code, expected, err);
    assert.match(err, words);
    assert.equal(sent.length, expected === 0 ? 1 : 0);
  }
});

Deno.test("mail inject --defer keeps mail while the operator's settings are wrong", async () => {
  const args = [...INJECT, "--defer", "b@relay.example"];
  assert.equal((await inject(args, refused(401, "invalid_signature"))).code, 75);
  assert.equal((await inject(args, taken(), { env: {} })).code, 75);
  assert.equal((await inject(args, refused(404, "not_found", NOBODY))).code, 67);
  assert.equal((await inject(args, refused(400, "invalid_json"))).code, 65);
});

Deno.test("mail inject stops reading a message that no relay takes", async () => {
  let read = 0;
  const endless = {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        read++;
        yield await Promise.resolve(new Uint8Array(1024 * 1024));
      }
    },
  };
  const host = memoryHost([...INJECT, "b@relay.example"], { env: ENV });
  const code = await run({ ...host, stdin: () => endless, stderr: host.stderr });
  assert.equal(code, 65);
  assert.equal(read, 26);
  assert.match(host.err, /over 26214400 bytes/);
  const whole = new Uint8Array(25 * 1024 * 1024);
  const { code: fits, sent } = await inject([...INJECT, "b@relay.example"], taken(), {
    stdin: whole,
  });
  assert.deepEqual([fits, sent[0]!.body.length], [0, whole.length]);
});
