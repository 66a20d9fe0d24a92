/** `relay mail check` against a relay, with a mail server before it. */
import assert from "node:assert/strict";
import { TLSSocket } from "node:tls";
import { run } from "../../toolkit/cli/run.ts";
import { callMailServer } from "../../toolkit/node/call_mail_server.ts";
import { nodeDns } from "../../toolkit/node/dns_exchange.ts";
import { startScriptedDns } from "../support/dns_server.ts";
import { handIn } from "../support/inbound_mail.ts";
import { accepted, newOrg } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { startSmtpServer } from "../support/smtp_server.ts";
import { newOrgAt, spawnSmtpRelay, TLS_ENV } from "../support/smtp_world.ts";
import { memoryHost, type MemoryHostState } from "./memory_host.ts";

/** What smtp-server does for STARTTLS needs it, and Deno 2.5 does not have it. */
const testTls = "getProtocol" in TLSSocket.prototype ? Deno.test : Deno.test.ignore;

/** A relay, and a mail server that hands in what it takes. */
async function startWorld() {
  const relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox({ local_part: "bot" });
  let passesOn = true;
  const server = await startSmtpServer({
    disabledCommands: ["AUTH"],
    onData(stream, session, done) {
      const chunks: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      stream.on("end", async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const raw = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
          timestamp: relay.clock.seconds(),
        };
        if (passesOn) accepted(await handIn(relay.url, mail), 200);
        done();
      });
    },
  });
  const args = [
    ...["mail", "check", `--to=${inbox.address}`, `--at=127.0.0.1:${server.port}`],
    `--relay=${relay.url}`,
  ];
  return {
    inbox,
    server,
    args,
    swallow: () => void (passesOn = false),
    async check(more: readonly string[] = [], state: MemoryHostState = {}) {
      const env = { RELAY_MAIL_API_KEY: holder.key };
      const host = memoryHost([...args, ...more], { fetch, env, callMailServer, ...state });
      const code = await run(host);
      return { code, out: host.out, err: host.err };
    },
    messages: async () =>
      accepted(await holder.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200).data,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
}

testTls(
  "relay mail check sends a mail in from outside, and says what each part made of it",
  async () => {
    await using world = await startWorld();
    const { code, out, err } = await world.check(["--json", "--from=ann@else.test"]);
    assert.deepEqual([code, err], [0, ""]);
    const told = JSON.parse(out);
    const [message] = await world.messages();
    assert.equal(told.message_id, message.id);
    assert.equal(told.thread_id, message.thread_id);
    assert.deepEqual(told.auth, message.auth);
    assert.deepEqual([told.step, told.reply.code], ["the message", 250]);
    assert.match(told.tls.distrust, /SELF_SIGNED/);
    assert.equal(message.envelope.from, "ann@else.test");
    assert.deepEqual([message.automated, message.parse_warnings], ["none", []]);

    const tagged = await world.check([`--to=${world.inbox.address.replace("@", "+x@")}`]);
    assert.deepEqual([tagged.code, tagged.err], [0, ""]);
    assert.match(tagged.out, /^TLS +TLSv1\.\d, certificate not trusted/m);
    assert.match(tagged.out, /^reply +250 .* \(to the message\)$/m);
    for (const label of ["message", "thread", "SPF", "DKIM", "DMARC", "verdict"]) {
      assert.match(tagged.out, new RegExp(`^${label} +\\S+$`, "m"));
    }
  },
);

testTls(
  "relay mail check ends with 1 where the mail is refused, or taken and not there in time",
  async () => {
    await using world = await startWorld();
    world.server.refuse({ at: "recipient", code: 550 });
    const refused = await world.check(["--json"]);
    assert.equal(refused.code, 1, refused.err);
    const { step, reply, message_id, auth } = JSON.parse(refused.out);
    assert.deepEqual([step, reply.code, message_id, auth], ["RCPT", 550, null, null]);
    world.server.refuse(null);
    world.swallow();
    const lost = await world.check(["--wait-for=0"]);
    assert.equal(lost.code, 1);
    assert.match(lost.err, /taken, and is not in the inbox/);
    assert.deepEqual(await world.messages(), []);
  },
);

testTls("relay mail check sends nothing before the relay has taken the key", async () => {
  await using world = await startWorld();
  const wrong = await world.check([], { env: { RELAY_MAIL_API_KEY: "rm_sk_wrong" } });
  assert.equal(wrong.code, 4);
  assert.ok(!wrong.err.includes("rm_sk_wrong"));
  const other = await world.check(["--to=other@agents.test"]);
  assert.equal(other.code, 4);
  assert.equal(world.server.transactions(), 0);
  const file = await world.check(["--api-key-file=key.txt"], {
    files: { "key.txt": "rm_sk_other\n" },
  });
  assert.equal(file.code, 4);
});

testTls(
  "relay mail check goes to the MX of the domain, the first of several, or to the domain itself",
  async () => {
    await using world = await startWorld();
    await using dns = startScriptedDns({
      "MX agents.test": { MX: ["20 b.example", "10 a.example"] },
    });
    const called: string[] = [];
    const state: MemoryHostState = {
      askDnsServer: nodeDns.askDnsServer,
      callMailServer({ host, port }) {
        called.push(`${host}:${port}`);
        return Promise.reject(new Error("nobody is there"));
      },
    };
    const args = [`--server=${dns.server.host}:${dns.server.port}`];
    const withoutAt = world.args.filter((arg) => !arg.startsWith("--at="));
    const ask = async () => {
      const env = { RELAY_MAIL_API_KEY: "" };
      const host = memoryHost([...withoutAt, ...args, "--api-key-file=k"], {
        env,
        fetch: () => Promise.resolve(Response.json({})),
        files: { k: "key" },
        ...state,
      });
      return { code: await run(host), err: host.err };
    };
    const first = await ask();
    assert.equal(first.code, 5);
    assert.match(first.err, /a\.example:25: nobody is there/);
    dns.zone.set("MX agents.test", { MX: [] });
    await ask();
    assert.deepEqual(called, ["a.example:25", "agents.test:25"]);
    for (const none of ["servfail", { MX: ["0 "] }] as const) {
      dns.zone.set("MX agents.test", none);
      const { code, err } = await ask();
      assert.equal(code, 5);
      assert.match(err, /DNS names no mail server/);
    }
    assert.equal(called.length, 2);
  },
);

Deno.test("relay mail check refuses what it cannot send", async () => {
  const ok = ["mail", "check", "--relay=https://r.example", "--to=a@b.example", "--at=mx.example"];
  const cases: [string[], RegExp][] = [
    [["mail", "check", "--relay=https://r.example"], /--to=A/],
    [[...ok, "--to=a b@c.example"], /--to=A/],
    [[...ok, "--to=a@b.example>\r\nRCPT TO:<x@y.example"], /--to=A/],
    [[...ok, "--from=x"], /--from/],
    [[...ok, "--helo=a b"], /--helo/],
    [[...ok], /no API key/],
    [[...ok, "--wait-for=x"], /--wait-for/],
  ];
  for (const [args, words] of cases) {
    const host = memoryHost(args);
    assert.equal(await run(host), 2, args.join(" "));
    assert.match(host.err, words);
  }
});

testTls(
  "relay mail check finds its mail in the inbox of a relay that takes mail itself",
  async () => {
    await using relay = await spawnSmtpRelay({ env: TLS_ENV });
    const holder = await newOrgAt(relay);
    const inbox = await holder.inbox({ local_part: "bot" });
    const check = async (to: string, ...more: string[]) => {
      const host = memoryHost([
        ...["mail", "check", `--to=${to}`, `--at=127.0.0.1:${relay.smtpPort}`, "--json"],
        ...[`--relay=${relay.url}`, ...more],
      ], { fetch, env: { RELAY_MAIL_API_KEY: holder.key }, callMailServer });
      const code = await run(host);
      return { code, told: host.out === "" ? null : JSON.parse(host.out), err: host.err };
    };
    const { code, told, err } = await check(inbox.address, "--from=ann@else.test");
    assert.deepEqual([code, err], [0, ""]);
    assert.match(told.reply.text, /^2\.0\.0 taken as [0-9a-f]{16}$/);
    assert.deepEqual([told.step, told.reply.code], ["the message", 250]);
    assert.match(told.tls.distrust, /./);
    const path = `/v1/mail/messages/${told.message_id}`;
    const message = accepted(await holder.ask("GET", path), 200);
    assert.deepEqual(message.auth, told.auth);
    assert.equal(message.thread_id, told.thread_id);
    assert.match(message.headers.received[0], /with ESMTPS id /);
    const closed = await holder.inbox({ local_part: "closed", block_receive: ["else.test"] });
    const refused = await check(closed.address, "--from=ann@else.test");
    assert.equal(refused.code, 1, refused.err);
    assert.deepEqual(refused.told.reply, {
      code: 550,
      text: "5.7.1 the inbox does not take mail from you",
    });
  },
);
