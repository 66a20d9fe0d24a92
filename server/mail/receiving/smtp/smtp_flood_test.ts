/** Floods of the SMTP server: what one client does costs others nothing, and what it holds is bounded. */
import assert from "node:assert/strict";
import { settlesWithin } from "../../../../tests/support/pace.ts";
import type { RawSmtp } from "../../../../tests/support/smtp_client.ts";
import { startSmtpRig } from "../../../../tests/support/smtp_rig.ts";

/** Has the clock looked at until a reply comes. */
async function untilSettled(work: Promise<unknown>, look: () => void): Promise<void> {
  while (!await settlesWithin(work, 1)) look();
}

Deno.test("SmtpListener takes an address whose turn it is while another lets refused connections hang", async () => {
  await using rig = startSmtpRig({ bounds: { connections: 2, connectionsPerAddress: 1 } });
  using held = await rig.greeted();
  const refused: RawSmtp[] = [];
  for (let i = 0; i < 8; i++) {
    const client = rig.connect();
    assert.match(await client.reply(), /^421 4\.7\.0 too many connections/);
    refused.push(client);
  }
  using other = rig.connect("127.0.0.2");
  assert.match(await other.reply(), /^220 /);
  assert.match(await held.ask("NOOP"), /^250 /);
  for (const client of refused) client[Symbol.dispose]();
});

Deno.test("SmtpSession keeps nothing of lines that never end, in a command and in a message", async () => {
  await using rig = startSmtpRig({ limitBytes: 100_000 });
  using client = await rig.greeted();
  for (let i = 0; i < 40; i++) client.send("x".repeat(64 * 1024));
  client.send("\r\n");
  assert.equal(await client.reply(), "500 5.5.2 the line is too long");
  await client.begin();
  for (let i = 0; i < 40; i++) client.send("x".repeat(64 * 1024));
  assert.match(await client.rest(), /^552 5\.3\.4 /);
  assert.equal(rig.heldBytes(), 0);
  assert.equal(rig.received.length, 0);
});

Deno.test("SmtpSession ends what loops: greetings, transactions that are dropped, empty messages", async () => {
  await using rig = startSmtpRig();
  const loops = {
    greets: ["EHLO c.test"],
    drops: ["MAIL FROM:<a@else.test>", "RCPT TO:<ada@agents.test>", "RSET"],
    asks: ["MAIL FROM:<a@else.test>", "RCPT TO:<nobody@agents.test>", "RSET"],
    "has nobody": ["DATA"],
  };
  for (const [name, lines] of Object.entries(loops)) {
    using client = await rig.greeted();
    await client.ask("EHLO c.test");
    let reply = "";
    let count = 0;
    while (!reply.includes("421 ") && count < 1_000) {
      const coming = client.ask(lines[count++ % lines.length]!);
      await untilSettled(coming, () => rig.pass(0));
      reply = await coming;
      if (reply === "") break;
    }
    assert.ok(count <= 300, `${name}: ${count}`);
  }
});

Deno.test("SmtpSession answers who only asks about once a second, what was pipelined too", async () => {
  await using rig = startSmtpRig({ bounds: { promptReplies: 3 } });
  using client = await rig.greeted();
  client.send("MAIL FROM:<a@else.test>\r\nEHLO c.test\r\nMAIL FROM:<a@else.test>\r\n");
  client.send(`${"RCPT TO:<nobody@agents.test>\r\n".repeat(2)}NOOP\r\nDATA\r\n`);
  assert.match(await client.reply(), /^503 /);
  assert.match(await client.reply(), /^250-agents/);
  assert.match(await client.reply(), /^250 2\.1\.0 /);
  assert.match(await client.reply(), /^550 5\.1\.1 /);
  assert.match(await client.reply(), /^550 5\.1\.1 /, "what brings the pause is answered");
  for (const next of [/^250 2\.0\.0 here/, /^554 5\.5\.1 /]) {
    const coming = client.reply();
    assert.equal(await settlesWithin(coming, 50), false);
    rig.pass(1_000);
    assert.match(await coming, next);
  }
});

Deno.test("SmtpSession answers at once again after a message, and is cut in a pause", async () => {
  await using rig = startSmtpRig({ bounds: { promptReplies: 3, connections: 2 } });
  using client = await rig.greeted();
  for (let i = 0; i < 2; i++) {
    await client.begin();
    assert.match(await client.ask("Subject: x\r\n\r\n."), /^250 /);
    assert.match(await client.ask("NOOP"), /^250 /);
  }
  using quiet = await rig.greeted();
  rig.pass(10_000);
  for (let i = 0; i < 3; i++) assert.match(await client.ask("NOOP"), /^250 /);
  using comes = await rig.greeted();
  assert.match(await client.reply(), /^421 4\.3\.2 all connections/);
  assert.match(await comes.ask("NOOP"), /^250 /);
  assert.match(await quiet.ask("NOOP"), /^250 /);
});

Deno.test("SmtpSession reads what goes on and on in turns, and what is short at once", async () => {
  const bounds = { promptBytes: 1_000, readBytesPerSecond: 1_000_000 }; // 10,000 a tick
  await using rig = startSmtpRig({ bounds });
  for (const begin of [async () => {}, (client: RawSmtp) => client.begin()]) {
    using client = await rig.greeted();
    await begin(client);
    client.send("x".repeat(512 * 1024));
    client.send(`${"x".repeat(600)}\r\n.\r\n`);
    const reply = client.reply();
    using other = await rig.greeted();
    await other.begin();
    assert.match(await other.ask("Subject: x\r\n\r\n."), /^250 /);
    assert.equal(await settlesWithin(reply, 50), false);
    let ticks = 0;
    while (!await settlesWithin(reply, 1)) {
      rig.pass(10);
      ticks++;
    }
    assert.ok(ticks >= 30 && ticks < 60, `${ticks} ticks`);
    assert.match(await reply, /^(?:500|250) /);
  }
});

Deno.test("SmtpSession reads one refused message after the other in turns, and at once after one it took", async () => {
  const bounds = { promptBytes: 40_000, readBytesPerSecond: 100_000 }; // 1,000 a tick
  await using rig = startSmtpRig({ bounds });
  using client = await rig.greeted();
  const text = (end: string) => `Subject: x\r\n\r\n${"x".repeat(25_000)}${end}\r\n.`;
  for (let i = 0; i < 4; i++) {
    await client.begin();
    assert.match(await client.ask(text("")), /^250 /);
  }
  const refused = async () => {
    for (let i = 0; i < 8; i++) {
      await client.begin();
      assert.match(await client.ask(text("\n")), /^550 /);
    }
  };
  let ticks = 0;
  for (const all = refused(); !await settlesWithin(all, 1); ticks++) rig.pass(10);
  assert.ok(ticks >= 80, `${ticks} ticks`);
});

Deno.test("SmtpListener has who comes too often wait for a refusal, and hears no more of it", async () => {
  const bounds = { connectionsPerMinute: 3, connectionsPerAddress: 2 };
  await using rig = startSmtpRig({ bounds });
  const come = async (address?: string) => {
    const client = await rig.greeted(address);
    client[Symbol.dispose]();
    await rig.untilSize(0);
  };
  for (let i = 0; i < 3; i++) await come();
  const late = [rig.connect(), rig.connect()];
  const replies = late.map((client) => client.reply());
  await rig.untilSize(2);
  using over = rig.connect();
  const nothing = over.rest();
  using other = rig.connect("127.0.0.2");
  assert.match(await other.reply(), /^220 /);
  assert.equal(await settlesWithin(Promise.race([...replies, nothing]), 50), false);
  assert.equal(rig.listener.size, 3, "who is not heard takes no session");
  rig.pass(1_000);
  assert.equal(await nothing, "", "no word for more than may wait for one");
  for (const reply of replies) assert.match(await reply, /^421 4\.7\.0 too many new connections/);
  for (const client of late) client[Symbol.dispose]();
  await rig.untilSize(1);
  rig.pass(60_000);
  using again = rig.connect();
  assert.match(await again.reply(), /^220 /);
});

Deno.test("SmtpListener counts the programs of a local relay together", async () => {
  const bounds = { connectionsPerMinute: 1, localConnectionsPerMinute: 2 };
  await using rig = startSmtpRig({ bounds, isLocal: true });
  for (const address of ["127.0.0.1", "127.0.0.2"]) (await rig.greeted(address))[Symbol.dispose]();
  await rig.untilSize(0);
  using late = rig.connect("127.0.0.3");
  const reply = late.reply();
  await rig.untilSize(1);
  rig.pass(1_000);
  assert.match(await reply, /^421 4\.7\.0 too many new/);
});

Deno.test("SmtpListener frees a connection of each kind of client that says no more", async () => {
  await using rig = startSmtpRig();
  const clients: RawSmtp[] = [];
  for (const begun of ["", "EHLO c", "EHLO c.test\r\nMAIL FROM:<a@else.test>\r\n"]) {
    const client = await rig.greeted();
    client.send(begun);
    client.halfClose();
    clients.push(client);
  }
  await rig.untilSize(0);
  const slow = await rig.greeted();
  await slow.begin();
  slow.halfClose();
  await rig.untilSize(0);
  assert.equal(rig.received.length, 0);
  for (const client of [...clients, slow]) client[Symbol.dispose]();
});

Deno.test("SmtpSession reads little of what comes after its last word", async () => {
  await using rig = startSmtpRig();
  using client = await Deno.connect({ hostname: "127.0.0.1", port: rig.listener.port });
  const piece = new TextEncoder().encode("GET / HTTP/1.1\r\n".repeat(4_096));
  const pieces = 64 * 16; // 64 MiB, more than the buffers of both ends hold
  let written = 0;
  const flood = (async () => {
    for (; written < pieces; written++) {
      for (let at = 0; at < piece.length;) at += await client.write(piece.subarray(at));
    }
  })().catch(() => {});
  assert.equal(await settlesWithin(flood, 1_000), false, "all of it was read");
  rig.pass(2_000);
  await flood;
  assert.ok(written < pieces);
});
