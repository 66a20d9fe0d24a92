// Over 300 lines: the replies of one protocol, and what may not split it, beside each other.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Certificate } from "./certificate.ts";
import { startSmtpRig, UNAVAILABLE } from "../../../../tests/support/smtp_rig.ts";
import { delay, settlesWithin } from "../../../../tests/support/pace.ts";
import { netTest, type RawSmtp } from "../../../../tests/support/smtp_client.ts";
import { cameBytes } from "../received_mail.ts";

const FIXTURES = new URL("../../../../tests/base/outgoing/certificates/", import.meta.url);

/** Each line asked and the first digits of its reply, or all of it where the pair says so. */
async function asks(client: RawSmtp, steps: [line: string, reply: string][]): Promise<void> {
  for (const [line, expected] of steps) {
    const reply = await client.ask(line);
    assert.ok(reply.startsWith(expected), `${line}: ${reply}, not ${expected}`);
  }
}

async function isEmptyEnd(client: RawSmtp): Promise<void> {
  assert.equal(await client.rest(), "");
}

Deno.test("SmtpSession greets, and offers what it has", async () => {
  await using rig = startSmtpRig();
  using client = rig.connect();
  assert.equal(await client.reply(), "220 agents.test ESMTP");
  assert.equal(
    await client.ask("EHLO c.test"),
    "250-agents.test\r\n250-PIPELINING\r\n250-SIZE 26214400\r\n250-ENHANCEDSTATUSCODES\r\n250 8BITMIME",
  );
  assert.equal(await client.ask("helo c.test"), "250 agents.test");
  assert.equal(await client.ask("QUIT"), "221 2.0.0 goodbye");
  await isEmptyEnd(client);
});

Deno.test("SmtpSession answers every command, in and out of its order, with words of its own", async () => {
  await using rig = startSmtpRig({ limitBytes: 1000, bounds: { errors: 100, promptReplies: 100 } });
  using client = await rig.greeted();
  await asks(client, [
    ["MAIL FROM:<a@else.test>", "503 5.5.1 say EHLO first"],
    ["RCPT TO:<ada@agents.test>", "503 5.5.1 say EHLO first"],
    ["DATA", "503 5.5.1 say EHLO first"],
    ["EHLO", "501 5.5.4"],
    ["EHLO a b", "501 5.5.4"],
    ["EHLO [127.0.0.1]", "250-"],
    ["RCPT TO:<ada@agents.test>", "503 5.5.1 say MAIL first"],
    ["DATA", "503 5.5.1 say MAIL first"],
    ["AUTH PLAIN AGEAYg==", "502 5.5.1 nobody signs in"],
    ["STARTTLS", "502 5.5.1 STARTTLS is not offered"],
    ["VRFY ada", "252 2.5.0"],
    ["EXPN list", "502 5.5.1"],
    ["HELP", "214 2.0.0"],
    ["NOOP x", "250 2.0.0"],
    ["RSET", "250 2.0.0"],
    ["XCLIENT ADDR=1.2.3.4", "500 5.5.2"],
    ["", "500 5.5.2"],
    ["\0", "500 5.5.2"],
    ["MAIL FROM", "501 5.1.7"],
    ["MAIL FROM:a@else.test", "501 5.1.7"],
    ["MAIL TO:<a@else.test>", "501 5.1.7"],
    ["MAIL FROM:<a@else.test> SIZE=1001", "552 5.3.4 the message is over 1000 bytes"],
    ["MAIL FROM:<a@else.test> SIZE=99999999999999999999", "552 5.3.4"],
    ["MAIL FROM:<a@else.test> SIZE=x", "501 5.5.4"],
    ["MAIL FROM:<a@else.test> SIZE=1 SIZE=2", "501 5.1.7"],
    ["MAIL FROM:<a@else.test> BODY=BINARYMIME", "501 5.5.4"],
    ["MAIL FROM:<a@else.test> SMTPUTF8", "555 5.6.7 SMTPUTF8 is not offered"],
    ["MAIL FROM:<a@else.test> REQUIRETLS", "555 5.7.30 REQUIRETLS is not offered"],
    ["MAIL FROM:<a@else.test> RET=HDRS", "555 5.5.4"],
    ["MAIL FROM:<a@else.test> AUTH=<>", "555 5.5.4"],
    ["MAIL FROM:<\xc3\xa9@else.test>", "553 5.6.7"],
    ["MAIL FROM:<>  BODY=8BITMIME SIZE=1000", "250 2.1.0"],
    ["MAIL FROM:<a@else.test>", "503 5.5.1 a message is under way"],
    ["DATA", "554 5.5.1 no recipient was taken"],
    ["RCPT TO:<nobody@agents.test>", "550 5.1.1 no such inbox here"],
    ["RCPT TO:<a@else.test>", "550 5.7.1 relaying denied"],
    ["RCPT TO:<a@agents.test.else.test>", "550 5.7.1 relaying denied"],
    ["RCPT TO:<a%else.test@x.test>", "550 5.7.1 relaying denied"],
    ["RCPT TO:<ada>", "501 5.1.3"],
    ["RCPT TO:<>", "501 5.1.3"],
    ["RCPT TO:<ada@agents.test> NOTIFY=NEVER", "555 5.5.4"],
    ["RCPT TO:<\xc3\xa9@agents.test>", "553 5.6.7"],
    ["rcpt to:<ada@AGENTS.test>", "250 2.1.5"],
    ['RCPT TO:<"ada"@agents.test>', "250 2.1.5"],
    ["RCPT TO:<@else.test,@x.test:ada@agents.test>", "250 2.1.5"],
    ["RCPT TO: <Postmaster>", "250 2.1.5"],
    ["DATA now", "501 5.5.4"],
    ["DATA", "354 "],
    ["Subject: x\r\n\r\nHi\r\n.", "250 2.0.0 taken as 0707070707070707"],
    ["DATA", "503 5.5.1 say MAIL first"],
    ["QUIT", "221 2.0.0"],
  ]);
  assert.deepEqual(rig.received[0]!.to, [
    "ada@AGENTS.test",
    "ada@agents.test",
    "Postmaster@agents.test",
  ]);
  assert.deepEqual(rig.failures, []);
});

Deno.test("SmtpSession puts Return-Path and Received before a message, and names a single recipient", async () => {
  await using rig = startSmtpRig();
  using client = await rig.greeted();
  await client.begin();
  await asks(client, [
    ["Subject: x\r\n\r\nHi\r\n.", "250 2.0.0"],
    ["HELO a(b);c", "250 "],
    ["MAIL FROM:<>", "250"],
    ["RCPT TO:<ada@agents.test>", "250"],
    ["RCPT TO:<bob@agents.test>", "250"],
    ["DATA", "354"],
    [".", "250 2.0.0"],
  ]);
  const texts = rig.received.map(({ raw }) => new TextDecoder().decode(raw));
  assert.deepEqual(texts, [
    "Return-Path: <a@else.test>\r\nReceived: from c.test ([127.0.0.1])\r\n" +
    "\tby agents.test with ESMTP id 0707070707070707 for <ada@agents.test>;\r\n" +
    "\tMon, 01 Jun 2026 12:00:00 +0000\r\nSubject: x\r\n\r\nHi\r\n",
    "Return-Path: <>\r\nReceived: from unknown ([127.0.0.1])\r\n" +
    "\tby agents.test with SMTP id 0707070707070707;\r\n\tMon, 01 Jun 2026 12:00:00 +0000\r\n",
  ]);
  assert.equal(new TextDecoder().decode(cameBytes(rig.received[0]!)), "Subject: x\r\n\r\nHi\r\n");
  const { clientIp, clientHelo, reachesOperator } = rig.received[0]!;
  assert.deepEqual([clientIp, clientHelo, reachesOperator], ["127.0.0.1", "c.test", true]);
});

Deno.test("SmtpSession answers a message by its outcomes: 451 before 250 before 550", async () => {
  const cases: [codes: (string | null)[], reply: string][] = [
    [[null, "not_found"], "250 2.0.0"],
    [["blocked", null, "over_quota"], "451 4.2.2"],
    [["rate_limited", "over_quota"], "451 4.7.1"],
    [["not_found"], "550 5.1.1"],
    [["org_suspended", "not_found"], "550 5.7.1"],
  ];
  for (const [codes, expected] of cases) {
    await using rig = startSmtpRig({
      // deno-lint-ignore no-explicit-any -- codes of the table
      outcome: (({ to }: any) => codes.map((code) => ({ address: to[0], code }))) as any,
    });
    using client = await rig.greeted();
    await client.begin();
    const reply = await client.ask("x: y\r\n.");
    assert.ok(reply.startsWith(expected), `${codes}: ${reply}`);
  }
});

Deno.test("SmtpSession tells the sender to try again where the relay fails, and logs what it does not know", async () => {
  for (const [error, logged] of [[UNAVAILABLE, 0], [new Error("no"), 1]] as const) {
    await using rig = startSmtpRig({ outcome: () => Promise.reject(error) });
    using client = await rig.greeted();
    await client.begin();
    assert.equal((await client.ask(".")).slice(0, 9), "451 4.3.0");
    assert.equal(await client.ask("NOOP"), "250 2.0.0 here");
    assert.equal(rig.failures.length, logged);
  }
  await using rig = startSmtpRig({ preview: () => Promise.reject(UNAVAILABLE) });
  using client = await rig.greeted();
  await asks(client, [["EHLO c", "250"], ["MAIL FROM:<>", "250"], [
    "RCPT TO:<a@agents.test>",
    "451 4.3.0",
  ]]);
});

Deno.test("SmtpSession refuses a recipient as the preview says, before the message comes", async () => {
  const answers = {
    blocked: "550 5.7.1",
    org_suspended: "550 5.7.1",
    over_quota: "452 4.2.2",
    rate_limited: "451 4.7.1",
    operator: "250 2.1.5",
  } as const;
  const seen: unknown[] = [];
  await using rig = startSmtpRig({
    preview(envelope, address) {
      seen.push(envelope);
      const name = address.split("@")[0] as keyof typeof answers;
      return Promise.resolve(
        name === "rate_limited" ? { code: name, retryAfterMs: 1 } : name,
      );
    },
  });
  using client = await rig.greeted();
  await asks(client, [["EHLO c.test", "250"], ["MAIL FROM:<a@else.test> SIZE=9", "250"]]);
  for (const [name, reply] of Object.entries(answers)) {
    await asks(client, [[`RCPT TO:<${name}@agents.test>`, reply]]);
  }
  assert.deepEqual(seen[0], {
    from: "a@else.test",
    clientIp: "127.0.0.1",
    clientHelo: "c.test",
    sizeBytes: 9,
  });
});

netTest("SmtpSession takes pipelined commands, and a message behind another's end", async () => {
  await using rig = startSmtpRig();
  using client = await rig.greeted();
  const mail = "MAIL FROM:<a@else.test>\r\nRCPT TO:<ada@agents.test>\r\nDATA\r\n";
  client.send(`EHLO c.test\r\n${mail}`);
  for (const code of ["250-", "250 2.1.0", "250 2.1.5", "354"]) {
    assert.ok((await client.reply()).startsWith(code));
  }
  client.send(`one\r\n.\r\n${mail}`);
  for (const code of ["250 2.0.0", "250 2.1.0", "250 2.1.5", "354"]) {
    assert.ok((await client.reply()).startsWith(code));
  }
  client.send("two\r\n.\r\nQUIT\r\n");
  client.halfClose();
  const rest = await client.rest();
  assert.match(rest, /^250 2\.0\.0 taken as [0-9a-f]{16}\r\n221 2\.0\.0 goodbye\r\n$/);
  assert.equal(rig.received.length, 2);
  assert.equal(rig.lastText(), "two\r\n");
});

Deno.test("SmtpSession ends with what goes on before 354, and takes no command for a message", async () => {
  await using rig = startSmtpRig();
  using client = await rig.greeted();
  client.send(
    "EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<ada@agents.test>\r\nDATA\r\nSubject: x\r\n\r\n.\r\nQUIT\r\n",
  );
  const rest = await client.rest();
  assert.match(rest, /250 2\.1\.5 .*\r\n421 4\.7\.0 wait for the reply/);
  assert.equal(rig.received.length, 0);
});

/** Endings that other servers have taken for the end of a message, between two messages. */
const ENDINGS = [
  ...["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\n.\r", "\r\n\n.\r\n"],
  ...[
    "\n\r.\n\r",
    "\r\r.\r\r",
    "\r\n\0.\r\n",
    "\r\n.\0\r\n",
    "\0\r.\r\n",
    "\r\n\r.\r\n",
    "\r\r\n.\r\r\n",
  ],
  ...["\r\n.\r\r\n", "\n\n.\n\n", "\r\n.\n\r\n", "\n.\n\r", "\x85.\x85", "\u0085.\r\n", "\v.\v"],
  ...[".\r\n", " .\r\n", "\r\n. \r\n", "\r\n..\r\n", "\r\n.\t\r\n"],
];

Deno.test("SmtpSession ends a message at CRLF.CRLF alone: no known smuggling splits one", async () => {
  for (const ending of ENDINGS) {
    await using rig = startSmtpRig();
    using client = await rig.greeted();
    await client.begin();
    const smuggled = "MAIL FROM:<evil@else.test>\r\nRCPT TO:<bob@agents.test>\r\nDATA\r\nevil";
    client.send(`Subject: x\r\n\r\nHi${ending}${smuggled}\r\n.\r\n`);
    const reply = await client.reply();
    const told = JSON.stringify(ending);
    assert.equal(await client.ask("NOOP"), "250 2.0.0 here", told);
    const isClean = !/\0|\r(?!\n)|(?<!\r)\n/.test(ending);
    assert.equal(reply.slice(0, 9), isClean ? "250 2.0.0" : "550 5.6.0", told);
    assert.equal(rig.received.length, isClean ? 1 : 0, told);
    if (isClean) assert.ok(rig.lastText().includes("MAIL FROM:<evil@else.test>"), told);
  }
});

Deno.test("SmtpSession previews all recipients of a message with one envelope", async () => {
  const envelopes = new Set<unknown>();
  await using rig = startSmtpRig({
    preview(envelope) {
      envelopes.add(envelope);
      return Promise.resolve("blocked");
    },
  });
  using client = await rig.greeted();
  await asks(client, [["EHLO c.test", "250"], ["MAIL FROM:<a@else.test> SIZE=9", "250"]]);
  for (const name of ["ada", "bob"]) await client.ask(`RCPT TO:<${name}@agents.test>`);
  assert.deepEqual([...envelopes], [
    { from: "a@else.test", clientIp: "127.0.0.1", clientHelo: "c.test", sizeBytes: 9 },
  ]);
});

Deno.test("SmtpSession takes no message that would go on with the trace before it", async () => {
  await using rig = startSmtpRig();
  using client = await rig.greeted();
  for (const line of [" by evil.test with ESMTPS;", "\tx", ". x", " "]) {
    await client.begin();
    client.send(`${line}\r\nSubject: x\r\n\r\nx\r\n.\r\n`);
    assert.match(await client.reply(), /^550 5\.6\.0 the message begins with white space/, line);
  }
  assert.equal(rig.received.length, 0);
});

Deno.test("SmtpSession reads a message the same however it is cut into pieces", async () => {
  const sent = "..\r\n...a\r\nb.\r\n.. \r\n\r\n..\r\n.\r\n";
  const expected = ".\r\n..a\r\nb.\r\n. \r\n\r\n.\r\n";
  await using rig = startSmtpRig({ bounds: { connectionsPerAddress: 100 } });
  let count = 0;
  for (let size = 1; size <= sent.length; size++) {
    using client = await rig.greeted();
    await client.begin();
    for (let at = 0; at < sent.length; at += size) {
      client.send(sent.slice(at, at + size));
      // Each piece is a segment of its own once the client's loop has run.
      await new Promise((resolve) => setTimeout(resolve));
    }
    assert.equal((await client.reply()).slice(0, 3), "250");
    assert.equal(rig.lastText(), expected, `pieces of ${size}`);
    count++;
  }
  assert.equal(count, sent.length);
});

Deno.test("SmtpSession ends with lines that end otherwise than in CRLF, with chunks and with the web", async () => {
  const cases: [bytes: string, reply: RegExp][] = [
    ["EHLO c.test\n", /^521 5\.5\.2 /],
    ["NOOP\rQUIT\r\n", /^521 5\.5\.2 /],
    ["NOOP\r\r\n", /^521 5\.5\.2 /],
    ["BDAT 40 LAST\r\nMAIL FROM:<a@else.test>\r\nNOOP\r\n", /^502 5\.5\.1 [^\r]*\r\n$/],
    ["POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nEHLO c\r\n", /^421 4\.7\.0 [^\r]*\r\n$/],
    ["PROXY TCP4 1.2.3.4 5.6.7.8 1 25\r\nEHLO c\r\n", /^421 4\.7\.0 RELAY_MAIL_PROXY/],
    ["\r\n\r\n\0\r\nQUIT\n\x20\x11\0\x0c", /521 5\.5\.2 [^\r]*\r\n$/],
  ];
  await using rig = startSmtpRig();
  for (const [bytes, expected] of cases) {
    using client = await rig.greeted();
    client.send(bytes);
    assert.match(await client.rest(), expected);
  }
});

Deno.test("SmtpSession skips a line that is too long, and keeps none of it", async () => {
  await using rig = startSmtpRig();
  using client = await rig.greeted();
  client.send(
    `NOOP ${"x".repeat(2041)}\r\nNOOP ${"x".repeat(2042)}\r\nNOOP ${
      "x".repeat(200_000)
    }\r\nNOOP\r\n`,
  );
  assert.equal(await client.reply(), "250 2.0.0 here");
  assert.equal(await client.reply(), "500 5.5.2 the line is too long");
  assert.equal(await client.reply(), "500 5.5.2 the line is too long");
  assert.equal(await client.reply(), "250 2.0.0 here");
});

Deno.test("SmtpSession refuses a message that is too large at its end, and leaves where it goes on", async () => {
  await using rig = startSmtpRig({ limitBytes: 1000 });
  using client = await rig.greeted();
  await client.begin();
  const line = `${"x".repeat(98)}\r\n`;
  assert.equal(
    await client.ask(`${line.repeat(10)}.`),
    "250 2.0.0 taken as 0707070707070707",
  );
  await client.begin();
  assert.equal(
    await client.ask(`${line.repeat(10)}x\r\n.`),
    "552 5.3.4 the message is over 1000 bytes",
  );
  await client.begin();
  client.send(line.repeat(21));
  assert.equal(await client.rest(), "552 5.3.4 the message is over 1000 bytes\r\n");
  assert.equal(rig.received.length, 1);
});

Deno.test("SmtpSession bounds recipients, errors, refused recipients and idle commands", async () => {
  await using rig = startSmtpRig({
    bounds: { recipients: 3, askedRecipients: 6, refusedRecipients: 2, errors: 2, idleCommands: 3 },
  });
  using many = await rig.greeted();
  await asks(many, [["EHLO c", "250"], ["MAIL FROM:<>", "250"]]);
  for (let i = 0; i < 3; i++) await asks(many, [[`RCPT TO:<a${i}@agents.test>`, "250"]]);
  await asks(many, [["RCPT TO:<a9@agents.test>", "452 4.5.3"], [
    "RCPT TO:<a1@agents.test>",
    "250",
  ]]);
  await asks(many, [["RCPT TO:<a9@agents.test>", "452 4.5.3"], ["RCPT TO:<x@agents.test>", "421"]]);
  const runs: [lines: string[], last: RegExp][] = [
    [["X", "Y"], /^500 .*\r\n500 .*\r\n421 4\.7\.0 too many errors\r\n$/],
    [["NOOP", "NOOP", "NOOP"], /here\r\n421 4\.7\.0 too many commands/],
    [
      ["EHLO c", "MAIL FROM:<>", "RCPT TO:<a@b.test>", "RCPT TO:<a@b.test>"],
      /421 4\.7\.0 too many refused/,
    ],
  ];
  for (const [lines, last] of runs) {
    using client = await rig.greeted();
    for (const line of lines) client.send(`${line}\r\n`);
    assert.match(await client.rest(), last);
  }
});

Deno.test("SmtpListener ends sessions by the clock: silent ones, slow messages, long ones", async () => {
  await using rig = startSmtpRig();
  using silent = await rig.greeted();
  rig.pass(59_999);
  assert.equal(await silent.ask("NOOP"), "250 2.0.0 here");
  silent.send("NOO"); // a line that never ends has the time of a whole one
  rig.pass(60_000);
  assert.equal(await silent.rest(), "421 4.4.2 nothing came in time\r\n");
  using slow = await rig.greeted();
  await slow.begin();
  slow.send(`${"x".repeat(65_534)}\r\n`);
  while (rig.heldBytes() < 65_536) await new Promise((resolve) => setTimeout(resolve));
  rig.pass(61_999);
  assert.equal(rig.listener.size, 1);
  rig.pass(1);
  assert.equal(await slow.rest(), "421 4.4.2 the message came too slowly\r\n");
  assert.equal(rig.heldBytes(), 0);
  using long = await rig.greeted();
  for (let minute = 0; minute < 30; minute++) {
    assert.equal(await long.ask("NOOP"), "250 2.0.0 here");
    rig.pass(59_999);
  }
  assert.equal(await long.ask("NOOP"), "250 2.0.0 here");
  rig.pass(30);
  assert.equal(await long.ask("NOOP"), "250 2.0.0 here");
  assert.equal(
    await long.rest(),
    "421 4.4.2 this session has lasted long enough, connect again\r\n",
  );
});

netTest(
  "SmtpListener takes ten connections of an address, and none of the eleventh's time",
  async () => {
    await using rig = startSmtpRig();
    const clients = [];
    for (let i = 0; i < 10; i++) clients.push(await rig.greeted("127.0.0.2"));
    using refused = rig.connect("127.0.0.2");
    assert.equal(
      await refused.rest(),
      "421 4.7.0 too many connections from your address, close one first\r\n",
    );
    using other = rig.connect("127.0.0.3");
    assert.equal(await other.reply(), "220 agents.test ESMTP");
    await clients[0]!.ask("QUIT");
    await rig.untilSize(10);
    using next = rig.connect("127.0.0.2");
    assert.equal(await next.reply(), "220 agents.test ESMTP");
    for (const client of clients) client[Symbol.dispose]();
  },
);

Deno.test("SmtpListener goes on with the next tick after a connection that cannot be accepted", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accept = listener.accept.bind(listener);
  let failing = 2;
  listener.accept = () =>
    failing-- > 0 ? Promise.reject(new Error("Too many open files")) : accept();
  await using rig = startSmtpRig({ listener });
  await Promise.resolve();
  for (const failures of [1, 2]) {
    assert.equal(rig.failures.length, failures);
    rig.pass(1_000);
    await new Promise((resolve) => setTimeout(resolve));
  }
  using client = await rig.greeted();
  assert.equal(await client.ask("NOOP"), "250 2.0.0 here");
});

Deno.test("SmtpListener lets who has waited longest give way once all connections are taken", async () => {
  await using rig = startSmtpRig({ bounds: { connections: 2 } });
  using first = await rig.greeted();
  await first.ask("NOOP");
  rig.pass(1);
  using second = await rig.greeted();
  await second.ask("NOOP");
  rig.pass(4_998);
  using early = rig.connect();
  assert.equal(await early.rest(), "421 4.3.2 all connections are taken, come again later\r\n");
  rig.pass(1);
  using late = rig.connect();
  assert.equal(await late.reply(), "220 agents.test ESMTP");
  assert.equal(await first.rest(), "421 4.3.2 all connections are taken, come again later\r\n");
  assert.equal(await second.ask("NOOP"), "250 2.0.0 here");
});

netTest(
  "SmtpListener lets a slow message and a handshake that does not come give way, and no quick message",
  async () => {
    const { certificate, folder } = await openCertificate();
    await using rig = startSmtpRig({ certificate, bounds: { connections: 3 } });
    using quick = await rig.greeted();
    await quick.begin();
    quick.send(`${"q".repeat(998)}\r\n`.repeat(656)); // 20 s of the slowest speed
    using slow = await rig.greeted();
    await slow.begin();
    slow.send("slow\r\n");
    while (rig.heldBytes() < 656_006) await new Promise((resolve) => setTimeout(resolve));
    rig.pass(1);
    using shaking = await rig.greeted();
    assert.match(await shaking.ask("STARTTLS"), /^220/);
    rig.pass(5_000);
    using first = rig.connect();
    assert.match(await first.reply(), /^220/);
    assert.match(await slow.rest(), /^421 4\.3\.2 all connections/);
    using second = rig.connect();
    assert.match(await second.reply(), /^220/);
    assert.equal(await shaking.rest(), "");
    using refused = rig.connect();
    assert.match(await refused.rest(), /^421 4\.3\.2 all connections/);
    assert.match(await quick.ask("."), /^250/);
    await Deno.remove(folder, { recursive: true });
  },
);

netTest("SmtpListener has the slowest message give way when all bytes are taken", async () => {
  const messages = { totalBytes: 3_200, smallBytes: 100, smallTotalBytes: 800 };
  await using rig = startSmtpRig({ bounds: { messages } });
  using slow = await rig.greeted("127.0.0.2");
  await slow.begin();
  slow.send(`${"s".repeat(1_000)}\r\n`);
  while (rig.heldBytes() < 1_002) await new Promise((resolve) => setTimeout(resolve));
  rig.pass(2_000);
  using quick = await rig.greeted("127.0.0.3");
  await quick.begin();
  quick.send(`${"q".repeat(1_500)}\r\n`);
  while (rig.heldBytes() < 2_504) await new Promise((resolve) => setTimeout(resolve));
  quick.send(`${"q".repeat(1_000)}\r\n.\r\n`);
  assert.match(await slow.rest(), /^421 4\.3\.2 too many messages/);
  assert.equal((await quick.reply()).slice(0, 9), "250 2.0.0");
});

Deno.test("SmtpListener.stop() ends what waits at once, and a message whose end has come is answered", async () => {
  const held = Promise.withResolvers<null>();
  await using rig = startSmtpRig({ outcome: () => held.promise });
  using idle = await rig.greeted();
  using coming = await rig.greeted();
  await coming.begin();
  coming.send("half of it\r\n");
  using whole = await rig.greeted();
  await whole.begin();
  whole.send("all of it\r\n.\r\n");
  while (rig.received.length === 0) await new Promise((resolve) => setTimeout(resolve));
  rig.listener.stop();
  const closing = "421 4.3.2 the relay is stopping, send again\r\n";
  assert.equal(await idle.rest(), closing);
  assert.equal(await coming.rest(), closing);
  const closed = rig.listener.close();
  held.resolve(null);
  assert.equal(await whole.rest(), `250 2.0.0 taken as 0707070707070707\r\n${closing}`);
  await closed;
  using late = rig.connect();
  assert.equal(await late.rest(), "");
});

Deno.test("SmtpSession stores a message whose client has gone after its end", async () => {
  const held = Promise.withResolvers<null>();
  await using rig = startSmtpRig({ outcome: () => held.promise });
  const client = await rig.greeted();
  await client.begin();
  client.send("x\r\n.\r\n");
  while (rig.received.length === 0) await new Promise((resolve) => setTimeout(resolve));
  client[Symbol.dispose]();
  held.resolve(null);
  await rig.untilSize(0);
  assert.deepEqual(rig.failures, []);
});

async function openCertificate() {
  const folder = await Deno.makeTempDir();
  const [certFile, keyFile] = [`${folder}/cert.pem`, `${folder}/key.pem`];
  const use = async (cert: string, key: string) => {
    await Deno.copyFile(new URL(cert, FIXTURES), certFile);
    await Deno.copyFile(new URL(key, FIXTURES), keyFile);
  };
  await use("server.pem", "server_key.pem");
  const logged: string[] = [];
  const certificate = await Certificate.open({ certFile, keyFile }, (event) => logged.push(event));
  return { certificate, certFile, keyFile, logged, use, folder };
}

netTest("SmtpSession starts TLS, and forgets what was said before", async () => {
  const { certificate, folder } = await openCertificate();
  await using rig = startSmtpRig({ certificate });
  using client = await rig.greeted();
  assert.match(await client.ask("EHLO plain.test"), /\r\n250-STARTTLS\r\n/);
  await asks(client, [
    ["STARTTLS now", "501 5.5.4"],
    ["MAIL FROM:<a@else.test>", "250"],
    ["STARTTLS", "220 2.0.0"],
  ]);
  await client.startTls();
  assert.equal(await client.ask("MAIL FROM:<a@else.test>"), "503 5.5.1 say EHLO first");
  assert.doesNotMatch(await client.ask("EHLO secret.test"), /STARTTLS/);
  assert.equal(await client.ask("STARTTLS"), "503 5.5.1 TLS is in use already");
  await client.begin();
  const text = `${"x".repeat(998)}\r\n`.repeat(1000);
  assert.equal((await client.ask(`${text}.`)).slice(0, 9), "250 2.0.0");
  assert.equal(rig.lastText(), text);
  assert.match(new TextDecoder().decode(rig.received[0]!.raw), /with ESMTPS id /);
  assert.equal(await client.ask("QUIT"), "221 2.0.0 goodbye");
  await isEmptyEnd(client);
  await Deno.remove(folder, { recursive: true });
});

netTest(
  "SmtpSession keeps every byte of a long message that is read with pauses, with TLS and without",
  async () => {
    const { certificate, folder } = await openCertificate();
    // A read a tick.
    await using rig = startSmtpRig({ certificate, bounds: { readBytesPerSecond: 1_600_000 } });
    const bytes = new Uint8Array(2 ** 20);
    for (let at = 0; at < bytes.length; at += 2 ** 16) {
      crypto.getRandomValues(bytes.subarray(at, at + 2 ** 16));
    }
    const text = Buffer.from(bytes).toString("base64").replaceAll(/.{76}/g, "$&\r\n") + "\r\n";
    for (const isSecure of [false, true]) {
      using client = await rig.greeted();
      if (isSecure) {
        await asks(client, [["EHLO c.test", "250"], ["STARTTLS", "220 2.0.0"]]);
        await client.startTls();
      }
      await client.begin();
      const reply = client.ask(`${text}.`);
      while (!await settlesWithin(reply, 1)) rig.pass(10);
      assert.equal((await reply).slice(0, 9), "250 2.0.0");
      assert.ok(rig.lastText() === text);
    }
    await Deno.remove(folder, { recursive: true });
  },
);

netTest(
  "SmtpSession reads no more of TLS than it takes, in a message and after its last word",
  async () => {
    const { certificate, folder } = await openCertificate();
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accept = listener.accept.bind(listener);
    let cameBytes = 0;
    let readAll = () => {};
    listener.accept = async () => {
      const connection = await accept();
      const read = connection.read.bind(connection);
      connection.read = async (into) => {
        const length = await read(into);
        if ((cameBytes += length ?? 0) > 2 ** 22) readAll();
        return length;
      };
      return connection;
    };
    const bounds = { readBytesPerSecond: 1_000 };
    await using rig = startSmtpRig({ certificate, listener, bounds });
    for (const last of ["DATA", "QUIT"]) {
      using client = await rig.greeted();
      await client.ask("EHLO c.test");
      await client.ask("STARTTLS");
      await client.startTls();
      await asks(client, [
        ["EHLO c.test", "250"],
        ["MAIL FROM:<a@else.test>", "250"],
        ["RCPT TO:<ada@agents.test>", "250"],
        [last, last === "DATA" ? "354" : "221"],
      ]);
      cameBytes = 0;
      const all = new Promise<void>((resolve) => readAll = resolve);
      for (let i = 0; i < 2 ** 7; i++) client.send("x".repeat(2 ** 16));
      assert.equal(await settlesWithin(all, 1_000), false, `${last}: all of it was read`);
    }
    await Deno.remove(folder, { recursive: true });
  },
);

netTest("SmtpSession counts what TLS brings, not what is left of it", async () => {
  const { certificate, folder } = await openCertificate();
  const bounds = { promptBytes: 1_000, readBytesPerSecond: 20_000 }; // 200 a tick
  await using rig = startSmtpRig({ bounds, certificate });
  using client = await rig.greeted();
  await client.ask("EHLO c.test");
  await client.ask("STARTTLS");
  await client.startTls();
  const begun = client.begin();
  while (!await settlesWithin(begun, 1)) rig.pass(10);
  let ticks = 0;
  const read = async (sizeBytes: number) => {
    for (; rig.heldBytes() < sizeBytes; ticks++) {
      await delay(1);
      rig.pass(10);
    }
  };
  for (let i = 0; i < 300; i++) { // each a record, of 23 bytes
    client.send("x");
    await delay(0);
  }
  await read(300);
  for (let i = 1; i <= 3; i++) { // what was read has its turn before what comes
    client.send("x");
    await read(300 + i);
  }
  const reply = client.ask("\r\n.");
  while (!await settlesWithin(reply, 1)) rig.pass(10);
  assert.ok(ticks >= 20, `${ticks} ticks`);
  assert.match(await reply, /^250 /);
  await Deno.remove(folder, { recursive: true });
});

netTest(
  "SmtpSession ends with what follows STARTTLS before the handshake, and with a broken handshake",
  async () => {
    const { certificate, folder } = await openCertificate();
    await using rig = startSmtpRig({ certificate });
    using early = await rig.greeted();
    early.send("STARTTLS\r\nEHLO evil.test\r\nMAIL FROM:<evil@else.test>\r\n");
    assert.match(await early.rest(), /^421 4\.7\.0 wait for the reply[^\r]*\r\n$/);
    using plain = await rig.greeted();
    await asks(plain, [["EHLO c.test", "250"], ["STARTTLS", "220"]]);
    plain.send("EHLO evil.test\r\nMAIL FROM:<evil@else.test>\r\nRCPT TO:<ada@agents.test>\r\n");
    assert.doesNotMatch(await plain.rest(), /250/);
    using silent = await rig.greeted();
    await asks(silent, [["EHLO c.test", "250"], ["STARTTLS", "220"]]);
    rig.pass(60_000);
    assert.equal(await silent.rest(), "");
    await rig.untilSize(0);
    assert.deepEqual(rig.failures, []);
    await Deno.remove(folder, { recursive: true });
  },
);
