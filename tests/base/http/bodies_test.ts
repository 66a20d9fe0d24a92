import assert from "node:assert/strict";
import { answerJson } from "../../../server/base/http/answers/answer.ts";
import { createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import type { BodyBounds } from "../../../server/base/http/bodies/body_budget.ts";
import { BODY_POOLS } from "../../../server/base/http/bodies/body_pools.ts";
import { readBody } from "../../../server/base/http/routes/read_body.ts";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { startApp } from "../../support/app_server.ts";
import { connectRaw, errorCode, type RawConnection } from "../../support/raw_http.ts";

const LIMIT_BYTES = 262_144;

/** A route that reads bodies by a clock and a ticker that the test moves. */
function bodyRoute({ bounds = BODY_POOLS.messages.bounds }: { bounds?: BodyBounds } = {}) {
  const state = { nowMs: 0, tick: () => {}, reads: 0, started: Promise.withResolvers<void>() };
  const reader = createBodyReader({
    pools: { ...BODY_POOLS, messages: { ...BODY_POOLS.messages, bounds } },
    now: () => state.nowMs,
    startTicker(tick) {
      state.tick = tick;
      state.started.resolve();
      return () => {};
    },
  });
  const route: Route = {
    method: "POST",
    path: "/v1/messages",
    body: { limitBytes: LIMIT_BYTES, pool: "messages" },
    handle: async (c) => {
      state.reads++;
      return answerJson({ sizeBytes: (await readBody(c)).length });
    },
  };
  return { state, route, bodies: reader };
}

const head = (...headers: string[]) =>
  ["POST /v1/messages HTTP/1.1", "Host: relay.test", ...headers, "", ""].join("\r\n");
const HEALTH = "GET /health HTTP/1.1\r\nHost: relay.test\r\n\r\n";
const letters = (sizeBytes: number) => "a".repeat(sizeBytes);

async function sizeOf(connection: RawConnection): Promise<number> {
  return JSON.parse((await connection.answer())!.body).sizeBytes;
}

Deno.test("readBody() reads whole bodies over sockets, in one piece, in pieces and chunked", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  await connection.send(head("Content-Length: 5") + "hello");
  assert.equal(await sizeOf(connection), 5);
  await connection.send(head("Content-Length: 5") + "he");
  await connection.send("llo");
  assert.equal(await sizeOf(connection), 5);
  await connection.send(head("Transfer-Encoding: chunked") + "5\r\nhello\r\n");
  await connection.send("3\r\nabc\r\n0\r\n\r\n");
  assert.equal(await sizeOf(connection), 8);
  await connection.send(head(`Content-Length: ${LIMIT_BYTES}`) + letters(LIMIT_BYTES));
  assert.equal(await sizeOf(connection), LIMIT_BYTES);
  await connection.send(head("Content-Length: 3", "Content-Length: 3") + "abc");
  assert.equal(await sizeOf(connection), 3);
  await connection.send(head());
  assert.equal(await sizeOf(connection), 0);
  await connection.send(head("Content-Length: 2", "Content-Encoding: identity") + "ab");
  assert.equal(await sizeOf(connection), 2);
});

Deno.test("readBody() refuses by Content-Length before any of the body comes", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  await connection.send(head(`Content-Length: ${LIMIT_BYTES + 1}`));
  const answer = await connection.answer();
  assert.equal(answer?.status, 413);
  assert.equal(errorCode(answer), "payload_too_large");
  assert.equal(answer?.headers.get("connection"), "close");
});

Deno.test("readBody() lets a client that writes 20 MB before it reads still see the 413", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  const body = letters(20_000_000);
  using counted = await connectRaw(app.port);
  await counted.send(head(`Content-Length: ${body.length}`) + body);
  assert.equal(errorCode(await counted.answer()), "payload_too_large");
  using chunked = await connectRaw(app.port);
  await chunked.send(
    head("Transfer-Encoding: chunked") + `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
  const answer = await chunked.answer();
  assert.equal(errorCode(answer), "payload_too_large");
  // Twice where the runtime says it of its own as well.
  assert.match(answer?.headers.get("connection") ?? "", /^close(, close)?$/);
});

Deno.test("readBody() refuses a chunked body as soon as the limit is passed", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  const chunk = `10000\r\n${letters(65_536)}\r\n`;
  await connection.send(head("Transfer-Encoding: chunked") + chunk + chunk + chunk + chunk);
  await connection.send("1\r\na\r\n");
  assert.equal(errorCode(await connection.answer()), "payload_too_large");
  // The rest is discarded, and what follows it is a request of its own.
  await connection.send(chunk + "0\r\n\r\n" + HEALTH);
  const next = await connection.answer();
  assert.ok(next === undefined || next.status === 200);
});

Deno.test("readBody() refuses encoded bodies with 400, before their size and content matter", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  for (const headers of [["Content-Length: 3"], ["Content-Length: 99999999"]]) {
    using connection = await connectRaw(app.port);
    await connection.send(head("Content-Encoding: gzip", ...headers) + "abc");
    assert.equal(errorCode(await connection.answer()), "invalid_json");
  }
});

Deno.test("readBody() answers 408 to a body that stays incomplete for 15 s", async () => {
  for (const framing of ["Content-Length: 50", "Transfer-Encoding: chunked"]) {
    const { route, bodies, state } = bodyRoute();
    await using app = await startApp([route], { bodies });
    using connection = await connectRaw(app.port);
    await connection.send(head(framing) + "5\r\nhello\r\n");
    await state.started.promise;
    state.nowMs = 15_000;
    state.tick();
    const answer = await connection.answer();
    assert.equal(answer?.status, 408, framing);
    assert.equal(errorCode(answer), "request_timeout");
    assert.equal(answer?.headers.get("connection"), "close", framing);
  }
});

Deno.test("readBody() answers 400 to a body whose sender stopped, and the server lives on", async () => {
  const { route, bodies, state } = bodyRoute();
  await using app = await startApp([route], { bodies });
  for (const start of ["Content-Length: 50", "Transfer-Encoding: chunked"]) {
    using connection = await connectRaw(app.port);
    await connection.send(head(start) + "5\r\nhello");
    await connection.finish();
    const answer = await connection.answer();
    assert.equal(answer?.status, 400, start);
    assert.equal(errorCode(answer), "invalid_json");
  }
  for (const start of ["Content-Length: 50", "Transfer-Encoding: chunked"]) {
    const connection = await connectRaw(app.port);
    await connection.send(head(start) + "5\r\nhello");
    connection[Symbol.dispose]();
  }
  for (const [first, rest] of [["zz\r\nhello", ""], ["1\r\na\r\n", "zz\r\nhello"]]) {
    const { route, bodies, state } = bodyRoute();
    await using app = await startApp([route], { bodies });
    using bad = await connectRaw(app.port);
    await bad.send(head("Transfer-Encoding: chunked") + first);
    if (rest !== "") await state.started.promise;
    await bad.send(rest!);
    const answer = await bad.answer();
    // With the headers it is the runtime's, which closes; later it is a body that broke off.
    assert.equal(answer?.status, rest === "" ? undefined : 400);
  }
  using connection = await connectRaw(app.port);
  await connection.send(HEALTH);
  assert.equal((await connection.answer())?.status, 200);
  assert.ok(state.reads >= 4);
  assert.deepEqual(app.logged, []);
});

Deno.test("readBody() leaves what HTTP itself forbids to the server's own empty 400", async () => {
  const { route, bodies, state } = bodyRoute();
  await using app = await startApp([route], { bodies });
  for (
    const headers of [
      ["Content-Length: 3", "Content-Length: 4"],
      ["Content-Length: +3"],
      ["Content-Length: 99999999999999999999999"],
    ]
  ) {
    using connection = await connectRaw(app.port);
    await connection.send(head(...headers) + "abc");
    const answer = await connection.answer();
    assert.deepEqual([answer?.status, answer?.body], [400, ""], headers.join());
  }
  assert.equal(state.reads, 0);
});

Deno.test("readBody() never takes Content-Length for the size of a chunked body", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  await connection.send(
    head("Content-Length: 3", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n",
  );
  // RFC 9112, section 6.3: a server refuses the two together, or the chunks decide.
  const answer = await connection.answer();
  assert.ok(answer?.status === 400 || JSON.parse(answer!.body).sizeBytes === 5);
});

Deno.test("readBody() reads many bodies at one time without mixing them", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  const sizes = Array.from({ length: 100 }, (_, index) => index * 37);
  const answers = await Promise.all(sizes.map(async (sizeBytes) => {
    const answer = await fetch(`${app.url}/v1/messages`, {
      method: "POST",
      body: letters(sizeBytes),
    });
    return (await answer.json()).sizeBytes;
  }));
  assert.deepEqual(answers, sizes);
});

Deno.test("readBody() has a connection closed after 408 and 413, and answers nothing more on it", async () => {
  for (const framing of ["Content-Length: 50", "Transfer-Encoding: chunked"]) {
    const { route, bodies, state } = bodyRoute();
    await using app = await startApp([route], { bodies });
    using connection = await connectRaw(app.port);
    await connection.send(head(framing) + (framing.startsWith("C") ? "hello" : "5\r\nhello\r\n"));
    await state.started.promise;
    state.nowMs = 15_000;
    state.tick();
    const answer = await connection.answer();
    assert.deepEqual([answer?.status, answer?.headers.get("connection")], [408, "close"], framing);
    await connection.send((framing.startsWith("C") ? letters(45) : "0\r\n\r\n") + HEALTH);
    state.tick();
    assert.equal(await connection.answer(), undefined, framing);
  }
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  await connection.send(head(`Content-Length: ${LIMIT_BYTES + 1}`));
  await connection.send(letters(LIMIT_BYTES + 1) + HEALTH);
  const answer = await connection.answer();
  assert.deepEqual([answer?.status, answer?.headers.get("connection")], [413, "close"]);
  assert.equal(await connection.answer(), undefined);
});

Deno.test("readBody() cuts off a chunked body that stalls after its 413", async () => {
  const { route, bodies, state } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using connection = await connectRaw(app.port);
  await connection.send(head("Transfer-Encoding: chunked") + `50000\r\n${letters(0x48000)}`);
  assert.equal((await connection.answer())?.status, 413);
  state.tick();
  state.tick();
  // Nothing of the body is missed any more: one byte is enough to see the end.
  await connection.send("a");
  assert.equal(await connection.answer(), undefined);
});

Deno.test("bodies that are announced and do not come keep nobody out, however many", async () => {
  const { route, bodies } = bodyRoute();
  await using app = await startApp([route], { bodies });
  using silent = new DisposableStack();
  for (let i = 0; i < 1025; i++) {
    const connection = silent.use(await connectRaw(app.port));
    await connection.send(head("Content-Length: 262144"));
  }
  using connection = await connectRaw(app.port);
  await connection.send(head("Content-Length: 200000") + letters(200_000));
  assert.equal(await sizeOf(connection), 200_000);
});

Deno.test("bodies beyond the room for them are answered 503, the slowest first, and fast ones accepted", async () => {
  const bounds = { totalBytes: 1_000_000, smallBytes: 16_384, smallTotalBytes: 100_000 };
  const { route, bodies, state } = bodyRoute({ bounds });
  await using app = await startApp([route], { bodies });
  using stalled = new DisposableStack();
  const answers: ReturnType<RawConnection["answer"]>[] = [];
  for (let i = 0; i < 5; i++) {
    const connection = stalled.use(await connectRaw(app.port));
    await connection.send(head("Content-Length: 262144") + letters(160_000));
    answers.push(connection.answer());
  }
  const refused = await Promise.race(answers);
  assert.equal(errorCode(refused), "unavailable");
  assert.deepEqual([refused?.status, refused?.headers.get("retry-after")], [503, "1"]);
  state.nowMs = 2000;
  using fast = await connectRaw(app.port);
  await fast.send(head("Content-Length: 200000") + letters(200_000));
  assert.equal(await sizeOf(fast), 200_000);
});

Deno.test("readBody() fails on a route that declares no body, and says so in the log alone", async () => {
  const route: Route = {
    method: "POST",
    path: "/v1/messages",
    handle: async (c) => answerJson({ sizeBytes: (await readBody(c)).length }),
  };
  await using app = await startApp([route]);
  using connection = await connectRaw(app.port);
  await connection.send(head("Content-Length: 5") + "hello");
  const answer = await connection.answer();
  assert.deepEqual([answer?.status, errorCode(answer)], [500, "internal"]);
  assert.match(JSON.stringify(app.logged), /POST \/v1\/messages declares no body/);
});
