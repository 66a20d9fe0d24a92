import assert from "node:assert/strict";
import { connectRaw } from "../../tests/support/raw_http.ts";
import { RequestsUnderWay } from "../base/http/routes/requests_under_way.ts";
import { serve, type Served } from "./serve.ts";

const ADDRESS = { host: "127.0.0.1", port: 0 };
const REQUEST = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

/** Something to serve whose one request waits until it is told to end, and what happened in order. */
function waitingRelay(close: () => Promise<void> = () => Promise.resolve()) {
  const events: string[] = [];
  const { promise: waited, resolve: endWaits } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const requests = new RequestsUnderWay();
  const served: Served = {
    app: {
      fetch: (_request: Request, env: unknown) =>
        requests.counted(async () => {
          events.push(`request from ${(env as { remoteAddress?: string }).remoteAddress}`);
          arrive();
          await waited;
          events.push("answer");
          return new Response("done");
        }),
    },
    idle: () => requests.idle(),
    endWaits() {
      events.push("endWaits");
      endWaits();
    },
    async close() {
      events.push("close");
      await close();
    },
  };
  return { served, events, arrived };
}

Deno.test("serve() stops by ending waits, finishing requests and closing, in this order", async () => {
  const { served, events, arrived } = waitingRelay();
  const serving = serve(served, { ...ADDRESS, log: () => {} });
  using connection = await connectRaw(serving.port);
  await connection.send(REQUEST);
  await arrived;
  const [clean, again] = await Promise.all([serving.stop(), serving.stop()]);
  assert.deepEqual([clean, again], [true, true]);
  assert.equal((await connection.answer())?.body, "done");
  assert.deepEqual(events, ["request from 127.0.0.1", "endWaits", "answer", "close"]);
  await assert.rejects(connectRaw(serving.port), Deno.errors.ConnectionRefused);
});

Deno.test("serve() tells a close that failed, and logs it without its quotations", async () => {
  const { served } = waitingRelay(() => Promise.reject(new Error('cannot write "secret"')));
  const lines: unknown[] = [];
  const serving = serve(served, { ...ADDRESS, log: (...line) => void lines.push(line) });
  assert.equal(await serving.stop(), false);
  assert.equal((lines[0] as unknown[])[0], "shutdown_close_failed");
  assert.ok(!JSON.stringify(lines).includes("secret"));
});

Deno.test("serve() answers 500 JSON when the application itself throws", async () => {
  const served: Served = {
    app: {
      fetch: () => {
        throw new Error("secret");
      },
    },
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const lines: unknown[] = [];
  const serving = serve(served, { ...ADDRESS, log: (...line) => void lines.push(line) });
  const answer = await fetch(`http://127.0.0.1:${serving.port}/`);
  assert.equal(answer.status, 500);
  assert.equal((await answer.json()).error.code, "internal");
  assert.equal(lines.length, 1);
  assert.equal(await serving.stop(), true);
});

Deno.test("serve() throws when the address is taken", async () => {
  const { served } = waitingRelay();
  const first = serve(served, { ...ADDRESS, log: () => {} });
  assert.throws(
    () => serve(served, { ...ADDRESS, port: first.port, log: () => {} }),
    Deno.errors.AddrInUse,
  );
  await first.stop();
});
