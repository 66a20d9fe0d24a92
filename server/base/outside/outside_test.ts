import assert from "node:assert/strict";
import type { Socket } from "node:net";
import {
  dripInto,
  floodWith,
  outsideOf,
  outsideTest,
  startRawReceiver,
} from "../../../tests/support/outside_rig.ts";
import type { Outside, OutsideAnswer } from "./outside.ts";

const BODY = new TextEncoder().encode('{"type":"webhook.test"}');
const SHORT_MS = 300;
/** Long enough for an answer to begin, on a slow machine too. */
const LATE_MS = 2_000;

interface Given {
  url?: string;
  body?: Uint8Array;
  signal?: AbortSignal;
}

function post(outside: Outside, port: number, given: Given = {}): Promise<OutsideAnswer> {
  const { url = `http://127.0.0.1:${port}/hook?a=b`, body = BODY, signal } = given;
  const headers = { "content-type": "application/json", "webhook-id": "evt_1" };
  return outside.post({ url, headers, body, signal: signal ?? new AbortController().signal });
}

/** What comes of an answer, byte by byte as it is given. */
async function answerTo(
  answer: string | ((socket: Socket) => void),
  { outside = outsideOf(), ...given }: Given & { outside?: Outside } = {},
): Promise<OutsideAnswer & { text: string }> {
  const write = typeof answer === "string" ? (socket: Socket) => void socket.end(answer) : answer;
  await using receiver = await startRawReceiver(write);
  const got = await post(outside, receiver.port, given);
  await receiver.deserted();
  return { ...got, text: new TextDecoder().decode(got.body) };
}

function outcome({ status, error }: OutsideAnswer): string {
  return `${status} ${error}`;
}

outsideTest(
  "Outside.post() sends one request over a connection of its own, and gives the answer",
  async () => {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\nhi";
    await using receiver = await startRawReceiver((socket) => void socket.write(answer));
    const outside = outsideOf();
    const { durationMs, ...first } = await post(outside, receiver.port);
    assert.deepEqual(first, {
      status: 200,
      error: null,
      body: Uint8Array.from([104, 105]),
      retryAfterMs: 7_000,
    });
    assert.ok(durationMs >= 0 && Number.isInteger(durationMs));
    await receiver.deserted();
    assert.equal(
      receiver.received.replace(/agent-relay\/[0-9.]+/, "agent-relay/x"),
      "POST /hook?a=b HTTP/1.1\r\ncontent-type: application/json\r\nwebhook-id: evt_1\r\n" +
        `user-agent: agent-relay/x\r\nhost: 127.0.0.1:${receiver.port}\r\nconnection: close\r\n` +
        'content-length: 23\r\n\r\n{"type":"webhook.test"}',
    );
    await post(outside, receiver.port);
    assert.equal(receiver.connections, 2);
  },
);

outsideTest("Outside.post() reads every kind of answer that HTTP/1 has", async () => {
  const cases: [string, string, string][] = [
    ["HTTP/1.0 200 OK\r\n\r\nhi", "200 null", "hi"],
    ["HTTP/1.1 204 No Content\r\n\r\n", "204 null", ""],
    ["HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nsad!", "500 null", "sad!"],
    [
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
      "200 null",
      "hi",
    ],
    ["HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 410 Gone\r\n\r\n", "410 null", ""],
    ["HTTP/1.1 103 Early\r\n\r\n".repeat(500) + "HTTP/1.1 410 Gone\r\n\r\n", "410 null", ""],
    // Each costs a head to parse.
    [
      "HTTP/1.1 103 Early\r\n\r\n".repeat(501) + "HTTP/1.1 410 Gone\r\n\r\n",
      "null connect",
      "",
    ],
    ["HTTP/1.1 101 Yes\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhi", "101 null", ""],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "200 null", "hi"],
    ["HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", "200 null", "hi"],
    ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 500 No\r\n\r\n", "200 null", "hi"],
    ["HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", "999 null", ""],
    ["HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n", "null connect", ""],
    ["HTTP/1.1 200\r\n\r\n", "200 null", ""],
    ["SSH-2.0-OpenSSH_9.9\r\n", "null connect", ""],
    ["+OK ready\r\n", "null connect", ""],
    ["HTTP/1.1 200 OK\r\nCont\u0000ent: 1\r\n\r\n", "null connect", ""],
    ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi", "null connect", ""],
    ["HTTP/1.1 200 OK\r\nContent-Le", "null connect", ""],
    ["", "null connect", ""],
  ];
  for (const [answer, expected, text] of cases) {
    const got = await answerTo(answer);
    assert.deepEqual([outcome(got), got.text], [expected, text], answer);
  }
});

outsideTest("Outside.post() follows no redirect", async () => {
  await using closed = await startRawReceiver(() => {});
  for (const status of [300, 301, 302, 303, 304, 307, 308, 399]) {
    const to = `http://127.0.0.1:${closed.port}/`;
    const got = await answerTo(
      `HTTP/1.1 ${status} X\r\nLocation: ${to}\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n`,
    );
    assert.deepEqual([outcome(got), got.retryAfterMs], [`${status} redirect`, 1_000]);
  }
  assert.equal(closed.connections, 0);
});

outsideTest("Outside.post() keeps 1 KiB of an answer and reads at most 64 KiB of it", async () => {
  const whole = `${"a".repeat(1_023)}bc${"d".repeat(5_000)}`;
  const long = await answerTo(`HTTP/1.1 200 OK\r\nContent-Length: ${whole.length}\r\n\r\n${whole}`);
  assert.deepEqual([outcome(long), long.text], ["200 null", `${"a".repeat(1_023)}b`]);
  const endless = await answerTo((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    floodWith(socket, "y".repeat(10_000));
  });
  assert.deepEqual([outcome(endless), endless.text], ["200 null", "y".repeat(1_024)]);
  const held = await answerTo((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${"z".repeat(65_536)}`);
  });
  assert.deepEqual([outcome(held), held.body.length], ["200 null", 1_024]);
});

outsideTest(
  "Outside.post() ends what has no end: headers, one header, interim answers, chunk extensions",
  async () => {
    const began = "HTTP/1.1 200 OK\r\n";
    const floods: [string, string, string][] = [
      [began, `X-Y: ${"z".repeat(100)}\r\n`, "null connect"],
      [began + "X: ", "y".repeat(1_000), "null connect"],
      ["", "HTTP/1.1 103 Early\r\n\r\n".repeat(50), "null connect"],
      ["", "HTTP/1.1 100 Continue\r\n\r\n".repeat(50), "null connect"],
      ["", "\r\n".repeat(500), "null connect"],
      [`${began}Transfer-Encoding: chunked\r\n\r\n1;`, "e".repeat(1_000), "200 null"],
      [
        `${began}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n`,
        `T: ${"t".repeat(99)}\r\n`,
        "200 null",
      ],
    ];
    for (const [first, again, expected] of floods) {
      const got = await answerTo((socket) => {
        socket.write(first);
        floodWith(socket, again);
      });
      assert.equal(outcome(got), expected, again.slice(0, 30));
    }
  },
);

outsideTest("Outside.post() is late in every phase, and takes the connection with it", async () => {
  const outside = outsideOf({ limitMs: LATE_MS });
  const silent: [(socket: Socket) => void, string][] = [
    [() => {}, "null timeout"],
    [(socket) => socket.write("HTTP/1.1 200"), "null timeout"],
    [(socket) => dripInto(socket, 5, "HTTP/1.1 103 Early\r\n\r\n"), "null timeout"],
    [(socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      dripInto(socket, 5, "X: y\r\n");
    }, "null timeout"],
    [(socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
      dripInto(socket, 5);
    }, "200 timeout"],
    [
      (socket) => void socket.write("HTTP/1.1 302 Found\r\nContent-Length: 9\r\n\r\n"),
      "302 timeout",
    ],
  ];
  const came = await Promise.all(silent.map(([answer]) => answerTo(answer, { outside })));
  assert.deepEqual(came.map(outcome), silent.map(([, expected]) => expected));
  const shortest = Math.min(...came.map(({ durationMs }) => durationMs));
  assert.ok(shortest >= LATE_MS - 5, String(shortest));
});

outsideTest("Outside.post() is late where nothing reads its body", async () => {
  await using receiver = await startRawReceiver((socket) => void socket.pause(), { atOnce: true });
  const body = new Uint8Array(64 * 1_048_576);
  const got = await post(outsideOf({ limitMs: SHORT_MS }), receiver.port, { body });
  assert.equal(outcome(got), "null timeout");
});

outsideTest("Outside.post() takes an answer that comes before the body was read", async () => {
  const answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig";
  await using receiver = await startRawReceiver((socket) => {
    socket.pause();
    socket.write(answer);
  }, { atOnce: true });
  const got = await post(outsideOf(), receiver.port, { body: new Uint8Array(64 * 1_048_576) });
  assert.deepEqual([outcome(got), new TextDecoder().decode(got.body)], ["413 null", "big"]);
});

outsideTest(
  "Outside.post() says connect where nobody listens, or the connection is reset",
  async () => {
    const receiver = await startRawReceiver(() => {});
    await receiver[Symbol.asyncDispose]();
    assert.equal(outcome(await post(outsideOf(), receiver.port)), "null connect");
    assert.equal(outcome(await answerTo((socket) => socket.resetAndDestroy())), "null connect");
  },
);

outsideTest("Outside.post() ends with its signal, in every phase", async () => {
  const reason = new Error("the relay stops");
  const asked = Promise.withResolvers<void>();
  const abort = new AbortController();
  await using receiver = await startRawReceiver(() => asked.resolve());
  const waiting = post(outsideOf(), receiver.port, { signal: abort.signal });
  await asked.promise;
  abort.abort(reason);
  await assert.rejects(waiting, reason);
  await receiver.deserted();
  assert.equal(receiver.connections, 1);
  await assert.rejects(post(outsideOf(), receiver.port, { signal: abort.signal }), reason);
  assert.equal(receiver.connections, 1);

  const later = new AbortController();
  const outside = outsideOf({
    resolve: () => {
      queueMicrotask(() => later.abort(reason));
      return new Promise(() => {});
    },
  });
  const url = "https://hook.example/";
  await assert.rejects(post(outside, 0, { url, signal: later.signal }), reason);
});

outsideTest("Outside.post() posts nothing where start-up said so", async () => {
  await using receiver = await startRawReceiver(() => {});
  const outside = outsideOf({ refusal: "RELAY_WEBHOOKS is false" });
  await assert.rejects(post(outside, receiver.port), /^Error: RELAY_WEBHOOKS is false$/);
  assert.equal(receiver.connections, 0);
});

outsideTest(
  "Outside.post() judges a URL again: settings may have changed since it was taken",
  async () => {
    await using receiver = await startRawReceiver(() => {});
    const outside = outsideOf({ allowLoopback: false });
    for (const host of ["127.0.0.1", "localhost", "[::1]", "2130706433", "[::ffff:127.0.0.1]"]) {
      for (const scheme of ["http", "https"]) {
        const url = `${scheme}://${host}:${receiver.port}/`;
        assert.equal(outcome(await post(outside, 0, { url })), "null blocked_address", url);
      }
    }
    assert.equal(receiver.connections, 0);
  },
);

outsideTest(
  "Outside.post() leaves no connection behind where a request cannot be written",
  async () => {
    await using receiver = await startRawReceiver(() => {});
    const outside = outsideOf();
    const { signal } = new AbortController();
    const url = `http://127.0.0.1:${receiver.port}/`;
    const headers = { "webhook-id": "a\r\nb" };
    await assert.rejects(outside.post({ url, headers, body: BODY, signal }), TypeError);
    await receiver.deserted();
    assert.equal(receiver.received, "");
  },
);
