/** Asking over UDP first, by askDnsServer(), with a server that answers TCP as it should. */
import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { startScriptedDns } from "../../tests/support/dns_server.ts";
import fc from "../../tests/support/seeded_fast_check.ts";
import { decodeAnswer, encodeQuestion } from "../mail/dns_message.ts";
import { LateError, nodeDns } from "./dns_exchange.ts";

/**
 * With a right to reach an IPv4 address, Deno 2.5 does not let a socket of both families reach it: there TCP
 * alone is asked.
 */
const testUdp = await canReachByUdp("::ffff:127.0.0.1") ? Deno.test : Deno.test.ignore;

async function canReachByUdp(address: string): Promise<boolean> {
  const socket = createSocket("udp6");
  const error = await new Promise((resolve) => socket.send("x", 9, address, resolve));
  socket.close();
  return error == null;
}

const NAME = "mx.example.org";
const ASKED = encodeQuestion(0x1234, NAME, "A")!;
const ADDRESS = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2];

/** An answer of one address to a question, however its bytes were spelled. */
function answerTo(question: Uint8Array, last: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from([...question.subarray(0, ASKED.length), ...ADDRESS, last]);
  bytes.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2);
  return bytes;
}

const read = (answer: Uint8Array) =>
  decodeAnswer(answer, { id: 0x1234, name: NAME, type: "A" }, 10);
/** What TCP says in these tests, and what UDP does. */
const BY_TCP = { records: ["192.0.2.2"] };
const BY_UDP = { records: ["192.0.2.1"] };

type Reply = (bytes: Uint8Array) => void;
interface Datagram {
  bytes: Uint8Array;
  port: number;
}

/** A server that answers over TCP as it should, and over UDP as the test says. */
async function startUdp(onQuestion: (asked: Datagram, reply: Reply, count: number) => void) {
  const scripted = startScriptedDns({ [`A ${NAME}`]: { A: ["192.0.2.2"] } }, { udp: null });
  const udp = createSocket("udp4");
  await new Promise<void>((resolve) => udp.bind(scripted.server.port, "127.0.0.1", resolve));
  const came: Datagram[] = [];
  udp.on("message", (message: Uint8Array, { port, address }) => {
    const asked = { bytes: Uint8Array.from(message), port };
    came.push(asked);
    onQuestion(asked, (bytes) => udp.send(bytes, port, address), came.length);
  });
  return {
    server: scripted.server,
    came,
    byTcp: scripted.ways,
    ask: async (timeoutMs = 10_000) =>
      read(await nodeDns.askDnsServer(scripted.server, ASKED, timeoutMs)),
    async [Symbol.asyncDispose]() {
      udp.close();
      await scripted[Symbol.asyncDispose]();
    },
  };
}

testUdp(
  "askDnsServer() asks over UDP with room for 1,232 bytes, each time from another port, in other letters",
  async () => {
    await using dns = await startUdp(({ bytes }, reply) => reply(answerTo(bytes, 1)));
    for (let i = 0; i < 8; i++) assert.deepEqual(await dns.ask(), BY_UDP);
    assert.deepEqual(dns.byTcp, []);
    const { came } = dns;
    assert.equal(came.length, 8);
    assert.ok(new Set(came.map(({ port }) => port)).size > 4);
    const names = came.map(({ bytes }) =>
      new TextDecoder().decode(bytes.subarray(12, ASKED.length))
    );
    assert.ok(new Set(names).size > 4);
    assert.deepEqual(new Set(names.map((name) => name.toLowerCase())).size, 1);
    assert.deepEqual([...came[0]!.bytes.subarray(0, 12)], [
      0x12,
      0x34,
      1,
      0,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      1,
    ]);
    const edns = [...came[0]!.bytes.subarray(ASKED.length)];
    assert.deepEqual(edns, [0, 0, 41, 1232 >> 8, 1232 & 0xff, 0, 0, 0, 0, 0, 0]);
  },
);

testUdp(
  "askDnsServer() gives names that point into the question as they were asked for",
  async () => {
    await using dns = await startUdp(({ bytes }, reply) => {
      const alias = [0xc0, 12, 0, 12, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12];
      const answer = Uint8Array.from([...bytes.subarray(0, ASKED.length), ...alias]);
      answer.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], 2);
      reply(answer);
    });
    const question = encodeQuestion(7, "Mx.example.org", "PTR")!;
    const answer = await nodeDns.askDnsServer(dns.server, question, 10_000);
    assert.deepEqual(decodeAnswer(answer, { id: 7, name: NAME, type: "PTR" }, 1), {
      records: ["Mx.example.org"],
    });
  },
);

testUdp(
  "askDnsServer() hears nobody but the asked server, at the port that was asked",
  async () => {
    const other = createSocket("udp4");
    await new Promise<void>((resolve) => other.bind(0, "127.0.0.1", resolve));
    await using dns = await startUdp(({ bytes, port }, reply) => {
      const forged = answerTo(bytes, 66);
      const count = 20;
      let left = count;
      for (let i = 0; i < count; i++) {
        other.send(forged, port, "127.0.0.1", () => --left === 0 && reply(answerTo(bytes, 1)));
      }
    });
    try {
      assert.deepEqual(await dns.ask(), BY_UDP);
      assert.deepEqual(dns.byTcp, []);
    } finally {
      other.close();
    }
  },
);

testUdp(
  "askDnsServer() asks over TCP what UDP leaves in doubt: one guess is all that a forger has",
  async () => {
    const change = (at: number, byte: number) => (bytes: Uint8Array) =>
      answerTo(bytes, 66).with(at, byte);
    const cases: [what: string, answer: (bytes: Uint8Array) => Uint8Array][] = [
      ["another id", change(0, 0xff)],
      ["another id below", change(1, 0xff)],
      ["no answer", change(2, 0x01)],
      ["cut", change(2, 0x83)],
      ["another kind of message", change(2, 0xa1)],
      ["EDNS not known", change(3, 0x81)],
      ["not implemented", change(3, 0x84)],
      ["two questions", change(5, 2)],
      ["another name", (bytes) => answerTo(bytes, 66).with(13, 0x40)],
      ["the name in other letters", (bytes) => answerTo(bytes, 66).with(13, bytes[13]! ^ 0x20)],
      ["another type", (bytes) => answerTo(bytes, 66).with(ASKED.length - 3, 16)],
      ["the question alone", (bytes) => bytes.subarray(0, 12)],
      ["nothing", () => new Uint8Array(0)],
      ["too long", (bytes) => Uint8Array.from([...answerTo(bytes, 66), ...new Uint8Array(1_232)])],
      ["huge", (bytes) => Uint8Array.from([...answerTo(bytes, 66), ...new Uint8Array(60_000)])],
    ];
    for (const [what, answer] of cases) {
      await using dns = await startUdp(({ bytes }, reply) => {
        reply(answer(bytes));
        reply(answerTo(bytes, 66)); // too late: the question is closed
      });
      assert.deepEqual(await dns.ask(), BY_TCP, what);
      assert.deepEqual([dns.came.length, dns.byTcp], [1, ["tcp"]], what);
    }
  },
);

testUdp("askDnsServer() survives whatever comes over UDP", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 1_500 }),
      fc.boolean(),
      async (garbage, isAfterQuestion) => {
        await using dns = await startUdp(({ bytes }, reply) => {
          const begun = answerTo(bytes, 1).subarray(0, isAfterQuestion ? ASKED.length : 0);
          reply(Uint8Array.from([...begun, ...garbage]));
        });
        const answer = await nodeDns.askDnsServer(dns.server, ASKED, 10_000);
        const found = read(answer);
        if (!isAfterQuestion || garbage.length > 1_200) assert.deepEqual(found, BY_TCP);
        else assert.ok(found === null || typeof found === "object");
      },
    ),
    { numRuns: 60 },
  );
});

testUdp(
  "askDnsServer() sends a lost question again, then asks over TCP, and so for a while",
  async () => {
    await using lossy = await startUdp(({ bytes }, reply, count) => {
      if (count === 2) reply(answerTo(bytes, 1));
    });
    assert.deepEqual(await lossy.ask(2_000), BY_UDP);
    assert.deepEqual([lossy.came.length, lossy.byTcp], [2, []]);

    await using silent = await startUdp(() => {});
    assert.deepEqual(await silent.ask(1_000), BY_TCP);
    assert.equal(silent.came.length, 2);
    for (let i = 0; i < 100; i++) assert.deepEqual(await silent.ask(), BY_TCP);
    assert.equal(silent.came.length, 2);
    assert.deepEqual(await silent.ask(1_000), BY_TCP);
    assert.equal(silent.came.length, 4);
  },
);

testUdp(
  "askDnsServer() is late where neither way answers in time, and where its signal aborts",
  async () => {
    await using dns = startScriptedDns({ [`A ${NAME}`]: "silence" });
    await assert.rejects(nodeDns.askDnsServer(dns.server, ASKED, 100), LateError);
    assert.deepEqual([dns.asked, dns.ways], [[`A ${NAME}`], ["udp", "udp", "tcp"]]);
    const abort = new AbortController();
    await using other = await startUdp(() => abort.abort());
    await assert.rejects(
      nodeDns.askDnsServer(other.server, ASKED, 600_000, abort.signal),
      LateError,
    );
    assert.deepEqual(other.byTcp, []);
  },
);

testUdp(
  "askDnsServer() asks over TCP where it may open no port for answers, and where it is told to",
  async () => {
    await using dns = startScriptedDns({ [`A ${NAME}`]: { A: ["192.0.2.2"] } });
    const module = new URL("./dns_exchange.ts", import.meta.url).href;
    const program = `import { nodeDns } from ${JSON.stringify(module)};
const question = new Uint8Array(${JSON.stringify([...ASKED])});
const answer = await nodeDns.askDnsServer(${JSON.stringify(dns.server)}, question, 20_000);
console.log(answer.at(-1));`;
    for (const [right, way] of [["", "tcp"], [",[::]:0", "udp"]]) {
      dns.ways.length = 0;
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-q", "--no-prompt", `--allow-net=127.0.0.1:${dns.server.port}${right}`, "-"],
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      await new Blob([program]).stream().pipeTo(child.stdin);
      const { stdout, stderr } = await child.output();
      const decoder = new TextDecoder();
      assert.deepEqual([decoder.decode(stdout), decoder.decode(stderr)], ["2\n", ""]);
      assert.deepEqual(dns.ways, [way]);
    }
    dns.ways.length = 0;
    const answer = await nodeDns.askDnsServer({ ...dns.server, tcp: true }, ASKED, 10_000);
    assert.deepEqual([read(answer), dns.ways], [BY_TCP, ["tcp"]]);
  },
);

testUdp("askDnsServer() asks a server at an IPv6 address", async () => {
  const udp = createSocket("udp6");
  await new Promise<void>((resolve) => udp.bind(0, "::1", resolve));
  udp.on("message", (bytes: Uint8Array, { port, address }) => {
    udp.send(answerTo(bytes, 1), port, address);
  });
  const server = { host: "0:0::1", port: udp.address().port };
  assert.deepEqual(read(await nodeDns.askDnsServer(server, ASKED, 10_000)), BY_UDP);
  udp.close();
});
