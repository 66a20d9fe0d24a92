import assert from "node:assert/strict";
import { connectRaw } from "../support/raw_http.ts";
import { spawnRelay } from "../support/spawn_relay.ts";

/** 5 s are promised of a machine that has time; a request that never ends would take 15 s. */
const MAX_STOP_MS = 10_000;

const upload = (sizeBytes: number) =>
  [
    "POST /v1/messages HTTP/1.1",
    "Host: relay.test",
    "Expect: 100-continue",
    `Content-Length: ${sizeBytes}`,
    "",
    "",
  ].join("\r\n");

const portOf = (url: string) => Number(new URL(url).port);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`main.ts exits 0 on ${signal}, sent once or again, with idle connections open`, async () => {
    await using relay = await spawnRelay();
    using idle = await connectRaw(portOf(relay.url));
    await idle.send("GET /health HTTP/1.1\r\nHost: relay.test\r\n\r\n");
    assert.equal((await idle.answer())?.status, 200);
    const startMs = performance.now();
    void relay.kill(signal);
    const status = await relay.kill(signal);
    assert.deepEqual([status.code, status.signal], [0, null]);
    assert.ok(performance.now() - startMs < MAX_STOP_MS);
    assert.match(relay.output().stderr, new RegExp(`"event":"stopping","signal":"${signal}"`));
    assert.match(relay.output().stderr, /"event":"stopped","clean":true/);
    assert.equal(await idle.answer(), undefined);
  });
}

Deno.test("main.ts finishes a request under way after SIGTERM and begins no new one", async () => {
  await using relay = await spawnRelay();
  const port = portOf(relay.url);
  using connection = await connectRaw(port);
  await connection.send(upload(5));
  // The interim answer proves that the relay has begun to read the body.
  assert.equal((await connection.answer())?.status, 100);
  const ended = relay.terminate();
  await relay.wrote(/"event":"stopping"/);
  const late = await fetch(`${relay.url}/health`);
  assert.equal(late.status, 503);
  assert.equal(late.headers.get("connection"), "close");
  assert.equal((await late.json()).error.code, "unavailable");
  await connection.send('{"a":');
  const answer = await connection.answer();
  assert.equal(answer?.status, 401);
  assert.equal((await ended).code, 0);
  assert.match(relay.output().stderr, /"clean":true/);
  await assert.rejects(connectRaw(port), Deno.errors.ConnectionRefused);
});

Deno.test("main.ts exits 0 within 5 s of SIGTERM even when a request never ends", async () => {
  await using relay = await spawnRelay();
  using connection = await connectRaw(portOf(relay.url));
  await connection.send(upload(5));
  assert.equal((await connection.answer())?.status, 100);
  const startMs = performance.now();
  const { code } = await relay.terminate();
  assert.equal(code, 0);
  assert.ok(performance.now() - startMs < MAX_STOP_MS);
  assert.match(relay.output().stderr, /"event":"shutdown_cut_requests"/);
  assert.match(relay.output().stderr, /"event":"stopped","clean":false/);
});
