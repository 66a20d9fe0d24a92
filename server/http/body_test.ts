import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { type BodyReader, createBodyReader } from "./body.ts";

const LIMIT_BYTES = 10;

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
function movableReader() {
  const state = { nowMs: 0, ticking: 0, started: 0, tick: () => {} };
  const reader = createBodyReader({
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

const read = (reader: BodyReader, request: Request) => reader.read(request, LIMIT_BYTES, "letter");

Deno.test("BodyReader.read() gives the bytes, with and without Content-Length", async () => {
  const { reader } = movableReader();
  const text = async (request: Request) => new TextDecoder().decode(await read(reader, request));
  assert.equal(await text(post("0123456789", { "content-length": "10" })), "0123456789");
  assert.equal(await text(post("0123456789")), "0123456789");
  assert.equal(await text(streamed(["012", "", "3456", "789"]).request), "0123456789");
  assert.equal(await text(post("abc", { "content-length": "3, 3" })), "abc");
});

Deno.test("BodyReader.read() gives nothing for an empty or absent body", async () => {
  const { reader, state } = movableReader();
  assert.equal((await read(reader, post(null))).length, 0);
  assert.equal((await read(reader, post("", { "content-length": "0" }))).length, 0);
  assert.equal((await read(reader, new Request("http://h/"))).length, 0);
  assert.equal(state.started, 0);
});

Deno.test("BodyReader.read() refuses by Content-Length before any of the body is read", async () => {
  const { reader } = movableReader();
  const body = streamed([], { end: false });
  body.request.headers.set("content-length", "11");
  await assertRefused(read(reader, body.request), "payload_too_large");
  assert.equal(body.request.bodyUsed, false);
  const huge = post("x", { "content-length": "9".repeat(30) });
  await assertRefused(read(reader, huge), "payload_too_large");
});

Deno.test("BodyReader.read() refuses as soon as the limit is passed", async () => {
  const { reader } = movableReader();
  const body = streamed(["0123456789", "0"], { end: false });
  await assertRefused(read(reader, body.request), "payload_too_large");
  assert.equal(body.cancelled, false);
  await assert.rejects(
    read(reader, streamed(["0123456789", "0"]).request),
    /the letter is larger than the 10 bytes allowed/,
  );
});

Deno.test("BodyReader.read() refuses content encodings but identity, whatever the size", async () => {
  const { reader } = movableReader();
  for (const encoding of ["gzip", "br", "x", "gzip, identity"]) {
    const request = post("0".repeat(99), { "content-encoding": encoding, "content-length": "99" });
    await assertRefused(read(reader, request), "invalid_json");
  }
  for (const encoding of ["identity", "Identity", ""]) {
    assert.equal((await read(reader, post("abc", { "content-encoding": encoding }))).length, 3);
  }
});

Deno.test("BodyReader.read() refuses a body that is not complete within 15 s", async () => {
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
  const body = reader.open(slow.request, () => "a");
  await assertRefused(read(reader, slow.request), "payload_too_large");
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

Deno.test("BodyReader.read() counts each body's time from its own beginning", async () => {
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

Deno.test("BodyReader.read() tells a body that broke off as 400", async () => {
  const { reader } = movableReader();
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError("connection reset"));
    },
  });
  await assertRefused(read(reader, post(broken)), "invalid_json");
});

Deno.test("BodyReader drops the slowest of more than 2,048 bodies that are incomplete after a second", async () => {
  const { reader, state } = movableReader();
  const dropped: number[] = [];
  const start = (index: number, parts: string[]) =>
    void read(reader, streamed(parts, { end: false }).request)
      .catch((error) => dropped.push(error.code === "unavailable" ? index : NaN));
  for (let index = 0; index < 2049; index++) start(index, index === 7 ? [] : ["0"]);
  await new Promise((resolve) => setTimeout(resolve));
  state.nowMs = 999;
  state.tick();
  await Promise.resolve();
  assert.deepEqual(dropped, []);
  state.nowMs = 1000;
  state.tick();
  await Promise.resolve();
  assert.deepEqual(dropped, [7]);
});
