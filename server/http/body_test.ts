import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { type BodyReader, createBodyReader } from "./body.ts";
import { BODY_POOLS, type BodyPoolName, type BodyPools } from "./body_pools.ts";

const LIMIT_BYTES = 10;
const BOUNDS = { smallBytes: 10, smallTotalBytes: 1000 };

function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request("http://h/", { method: "POST", body, headers });
}

/** A body of the given parts that never ends unless `end` is set. */
function streamed(parts: string[], { end = true } = {}): { request: Request; cancelled: boolean } {
  const state = {
    request: undefined as unknown as Request,
    cancelled: false,
  };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
      else if (end) controller.close();
      else return new Promise(() => {});
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  state.request = post(stream);
  return state;
}

/** A reader whose clock and ticker the test moves; `ticking` tells whether the ticker runs. */
function movableReader(pools?: BodyPools) {
  const state = { nowMs: 0, ticking: 0, started: 0, tick: () => {} };
  const reader = createBodyReader({
    pools,
    now: () => state.nowMs,
    startTicker(tick) {
      state.ticking++;
      state.started++;
      state.tick = tick;
      return () => void state.ticking--;
    },
  });
  return { state, reader };
}

async function assertRefused(reading: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(reading, (error: unknown) => {
    assert.ok(error instanceof RelayError, String(error));
    assert.equal(error.code, code);
    return true;
  });
}

const open = (reader: BodyReader, request: Request, pool: BodyPoolName = "messages") =>
  reader.open(request, { limitBytes: LIMIT_BYTES, pool }, () => "a");
const read = (reader: BodyReader, request: Request) => open(reader, request).read();

Deno.test("OpenBody.read() gives the bytes, with and without Content-Length", async () => {
  const { reader } = movableReader();
  const text = async (request: Request) => new TextDecoder().decode(await read(reader, request));
  assert.equal(await text(post("0123456789", { "content-length": "10" })), "0123456789");
  assert.equal(await text(post("0123456789")), "0123456789");
  assert.equal(await text(streamed(["012", "", "3456", "789"]).request), "0123456789");
  assert.equal(await text(post("abc", { "content-length": "3, 3" })), "abc");
});

Deno.test("OpenBody.read() gives nothing for an empty or absent body", async () => {
  const { reader, state } = movableReader();
  assert.equal((await read(reader, post(null))).length, 0);
  assert.equal((await read(reader, post("", { "content-length": "0" }))).length, 0);
  assert.equal((await read(reader, new Request("http://h/"))).length, 0);
  assert.equal(state.started, 0);
});

Deno.test("OpenBody.read() refuses by Content-Length before any of the body is read", async () => {
  const { reader } = movableReader();
  const body = streamed([], { end: false });
  body.request.headers.set("content-length", "11");
  await assertRefused(read(reader, body.request), "payload_too_large");
  assert.equal(body.request.bodyUsed, false);
  const huge = post("x", { "content-length": "9".repeat(30) });
  await assertRefused(read(reader, huge), "payload_too_large");
});

Deno.test("OpenBody.read() refuses as soon as the limit is passed", async () => {
  const { reader } = movableReader();
  const body = streamed(["0123456789", "0"], { end: false });
  await assertRefused(read(reader, body.request), "payload_too_large");
  assert.equal(body.cancelled, false);
  await assert.rejects(
    read(reader, streamed(["0123456789", "0"]).request),
    /the request body is larger than the 10 bytes allowed/,
  );
});

Deno.test("OpenBody.read() refuses content encodings but identity, whatever the size", async () => {
  const { reader } = movableReader();
  for (const encoding of ["gzip", "br", "x", "gzip, identity"]) {
    const request = post("0".repeat(99), { "content-encoding": encoding, "content-length": "99" });
    await assertRefused(read(reader, request), "invalid_json");
  }
  for (const encoding of ["identity", "Identity", ""]) {
    assert.equal((await read(reader, post("abc", { "content-encoding": encoding }))).length, 3);
  }
});

Deno.test("OpenBody.read() refuses a body that is not complete within 15 s", async () => {
  const { reader, state } = movableReader();
  const refused = assertRefused(
    read(reader, streamed(["01"], { end: false }).request),
    "request_timeout",
  );
  state.nowMs = 14_999;
  state.tick();
  assert.equal(state.ticking, 1);
  state.nowMs = 15_000;
  state.tick();
  await refused;
});

Deno.test("BodyReader.open() leaves the rest of a refused body until the answer has left, then cuts it off", async () => {
  const { reader, state } = movableReader();
  const slow = streamed(["0123456789", "0"], { end: false });
  const body = open(reader, slow.request);
  await assertRefused(body.read(), "payload_too_large");
  const sent = Promise.withResolvers<void>();
  body.close(() => sent.promise);
  state.tick();
  assert.equal(slow.cancelled, false);
  sent.resolve();
  await sent.promise;
  await Promise.resolve();
  assert.equal(state.ticking, 1);
  state.tick();
  assert.equal(slow.cancelled, true);
  state.tick();
  assert.equal(state.ticking, 0);
});

Deno.test("OpenBody.read() counts each body's time from its own beginning", async () => {
  const { reader, state } = movableReader();
  const first = assertRefused(
    read(reader, streamed([], { end: false }).request),
    "request_timeout",
  );
  state.nowMs = 10_000;
  let secondEnded = false;
  const second = assertRefused(
    read(reader, streamed([], { end: false }).request).finally(() => secondEnded = true),
    "request_timeout",
  );
  state.nowMs = 16_000;
  state.tick();
  await first;
  assert.equal(secondEnded, false);
  state.nowMs = 25_000;
  state.tick();
  await second;
});

Deno.test("BodyReader shares one ticker and stops it when nothing is pending", async () => {
  const { reader, state } = movableReader();
  for (let i = 0; i < 20; i++) await read(reader, post("abc"));
  assert.deepEqual([state.started, state.ticking], [1, 1]);
  state.tick();
  assert.equal(state.ticking, 0);
  const waiting = streamed(["a"], { end: false });
  const refused = assertRefused(read(reader, waiting.request), "request_timeout");
  state.tick();
  assert.deepEqual([state.started, state.ticking], [2, 1]);
  state.nowMs += 15_000;
  state.tick();
  await refused;
  assert.equal(state.ticking, 0);
});

Deno.test("BodyReader.close() stops the ticker", async () => {
  const { reader, state } = movableReader();
  await read(reader, post("abc"));
  reader.close();
  reader.close();
  assert.equal(state.ticking, 0);
});

Deno.test("OpenBody.read() tells a body that broke off as 400", async () => {
  const { reader } = movableReader();
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError("connection reset"));
    },
  });
  await assertRefused(read(reader, post(broken)), "invalid_json");
});

/** Starts so many bodies of a pool that never end; `dropped` gets the names of those that give way. */
function startEndless(
  reader: BodyReader,
  pool: BodyPoolName,
  count: number,
  silent: readonly number[],
  dropped: string[],
): void {
  for (let index = 0; index < count; index++) {
    const { request } = streamed(silent.includes(index) ? [] : ["0"], { end: false });
    void open(reader, request, pool).read().catch((error) =>
      dropped.push(`${pool} ${error.code === "unavailable" ? index : error}`)
    );
  }
}

async function tickAt(state: { nowMs: number; tick(): void }, nowMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve)); // what has come is counted
  state.nowMs = nowMs;
  state.tick();
  await Promise.resolve();
}

Deno.test("BodyReader drops the slowest of more than 2,048 bodies that are incomplete after a second", async () => {
  const { reader, state } = movableReader();
  const dropped: string[] = [];
  startEndless(reader, "messages", 2049, [7], dropped);
  await tickAt(state, 999);
  assert.deepEqual(dropped, []);
  await tickAt(state, 1000);
  assert.deepEqual(dropped, ["messages 7"]);
});

Deno.test("BodyReader drops of 2,048 bodies in all those of the pool that is over its share, whoever is slower", async () => {
  const flooded = movableReader();
  const dropped: string[] = [];
  startEndless(flooded.reader, "messages", 1530, [3], dropped);
  startEndless(flooded.reader, "mail", 519, [5], dropped);
  await tickAt(flooded.state, 1000);
  assert.deepEqual(dropped, ["mail 5"]);

  const { reader, state } = movableReader();
  const both: string[] = [];
  startEndless(reader, "mail", 513, [8], both);
  startEndless(reader, "messages", 1538, [2, 4], both);
  await tickAt(state, 1000);
  assert.deepEqual(both.toSorted(), ["mail 8", "messages 2", "messages 4"]);
});

Deno.test("BodyReader gives a mail a second more for each 128 KiB that came, at most 120 s", async () => {
  const { reader, state } = movableReader();
  const piece = "a".repeat(128 * 1024);
  const start = (parts: string[]) => {
    const ended = { reason: "" };
    const rules = { limitBytes: 1e9, pool: "mail" } as const;
    void reader.open(streamed(parts, { end: false }).request, rules, () => "a").read()
      .catch((error) => ended.reason = `${error.code}: ${error.message}`);
    return ended;
  };
  const nothing = start([]);
  const two = start([piece, piece + "a".repeat(1000)]);
  const many = start(Array.from({ length: 300 }, () => piece));
  const ended = () => [nothing, two, many].map(({ reason }) => /within (.*) s:/.exec(reason)?.[1]);
  await tickAt(state, 14_999);
  assert.deepEqual(ended(), [undefined, undefined, undefined]);
  await tickAt(state, 15_000);
  assert.deepEqual(ended(), ["15", undefined, undefined]);
  await tickAt(state, 16_999);
  assert.deepEqual(ended(), ["15", undefined, undefined]);
  await tickAt(state, 17_000);
  assert.deepEqual(ended(), ["15", "17", undefined]);
  await tickAt(state, 119_999);
  assert.deepEqual(ended(), ["15", "17", undefined]);
  await tickAt(state, 120_000);
  assert.deepEqual(ended(), ["15", "17", "120"]);
  assert.match(many.reason, /^request_timeout: /);
});

Deno.test("BodyReader counts the bodies of each pool alone: a full one drops its slowest and no other's", async () => {
  const { reader, state } = movableReader({
    messages: { ...BODY_POOLS.messages, bounds: { ...BOUNDS, totalBytes: 1000 } },
    mail: { ...BODY_POOLS.mail, bounds: { ...BOUNDS, totalBytes: 1000 } },
  });
  const dropped: string[] = [];
  const start = (name: string, pool: BodyPoolName, sizeBytes: number) => {
    const { request } = streamed(["a".repeat(sizeBytes)], { end: false });
    const body = reader.open(request, { limitBytes: 1000, pool }, () => name);
    void body.read().catch((error) => dropped.push(`${name}: ${error.code}`));
  };
  start("slowest message", "messages", 300);
  await tickAt(state, 1000);
  start("slow mail", "mail", 400);
  await tickAt(state, 3000);
  start("mail", "mail", 599);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, []);
  start("one mail more", "mail", 100);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable"]);
  start("message", "messages", 600);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable"]);
  start("one message more", "messages", 200);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable", "slowest message: unavailable"]);
});
