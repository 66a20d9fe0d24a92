import assert from "node:assert/strict";
import { movableReader, post, streamed } from "../../../../tests/support/movable_reader.ts";
import { RelayError } from "../../errors.ts";
import type { BodyReader } from "./body_reader.ts";

const LIMIT_BYTES = 10;

async function assertRefused(reading: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(reading, (error: unknown) => {
    assert.ok(error instanceof RelayError, String(error));
    assert.equal(error.code, code);
    return true;
  });
}

const open = (reader: BodyReader, request: Request) =>
  reader.open(request, { limitBytes: LIMIT_BYTES, pool: "messages" }, () => "a");
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

/** A body that is refused at once for its size, and whose rest comes as the test says. */
async function refusedAtOnce() {
  const { reader, state } = movableReader();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (isCancelled = true),
  });
  controller.enqueue(new Uint8Array(11));
  const body = open(reader, post(stream));
  await assertRefused(body.read(), "payload_too_large");
  body.close();
  const tickAt = async (nowMs: number) => {
    await new Promise((resolve) => setTimeout(resolve)); // what has come is discarded
    state.nowMs = nowMs;
    state.tick();
  };
  return { reader, state, controller, tickAt, isCancelled: () => isCancelled };
}

Deno.test("BodyReader discards the rest of a refused body for 15 s, and then cuts it off", async () => {
  const { controller, tickAt, isCancelled } = await refusedAtOnce();
  for (let nowMs = 1000; nowMs < 15_000; nowMs += 1000) {
    controller.enqueue(new Uint8Array(1));
    await tickAt(nowMs);
    assert.equal(isCancelled(), false);
  }
  controller.enqueue(new Uint8Array(1));
  await tickAt(15_000);
  assert.equal(isCancelled(), true);
});

Deno.test("BodyReader ticks no more once the rest of a refused body has come", async () => {
  const { state, controller, tickAt, isCancelled } = await refusedAtOnce();
  controller.enqueue(new Uint8Array(1));
  await tickAt(1000);
  assert.equal(state.ticking, 1);
  controller.enqueue(new Uint8Array(1));
  controller.close();
  await tickAt(2000);
  assert.deepEqual([state.ticking, isCancelled()], [0, false]);
});

Deno.test("BodyReader.close() cuts off the rests of refused bodies", async () => {
  const { reader, state, controller, tickAt, isCancelled } = await refusedAtOnce();
  controller.enqueue(new Uint8Array(1));
  await tickAt(1000);
  assert.equal(isCancelled(), false);
  reader.close();
  assert.deepEqual([state.ticking, isCancelled()], [0, true]);
});
