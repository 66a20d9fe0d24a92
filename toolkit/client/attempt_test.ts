import assert from "node:assert/strict";
import { attempt } from "./attempt.ts";
import { connectionOf } from "./connection.ts";

const REQUEST = {
  method: "GET",
  path: "/v1/inbox",
  query: "?wait=1",
  headers: {},
  body: undefined,
};

function answering(answer: (init: RequestInit) => Response | Promise<Response>) {
  return connectionOf({
    relay: "https://relay.example",
    fetch: (_input, init) => Promise.resolve(answer(init!)),
  });
}

Deno.test("attempt() reads an answer whole, of any status", async () => {
  const connection = answering(() => new Response("short", { status: 404 }));
  const { status, bytes } = await attempt(connection, REQUEST, 1_000, undefined);
  assert.deepEqual([status, new TextDecoder().decode(bytes)], [404, "short"]);
});

Deno.test("attempt() asks for the origin, path and query, and follows no redirection", async () => {
  const asked: unknown[] = [];
  const connection = connectionOf({
    relay: "https://relay.example:8443/",
    fetch: (input, init) => {
      asked.push(input, init!.redirect, "body" in init!);
      return Promise.resolve(new Response(null, { status: 307, headers: { Location: "/x" } }));
    },
  });
  await assert.rejects(attempt(connection, REQUEST, 1_000, undefined), {
    name: "AnswerError",
    code: "redirected",
    status: 307,
  });
  assert.deepEqual(asked, ["https://relay.example:8443/v1/inbox?wait=1", "manual", false]);
});

Deno.test("attempt() stops reading an answer that no relay sends", async () => {
  let sent = 0;
  let isCanceled = false;
  const chunk = new Uint8Array(1024 * 1024);
  const connection = answering(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent++;
          controller.enqueue(chunk);
        },
        cancel: () => void (isCanceled = true),
      }, { highWaterMark: 0 }),
    )
  );
  await assert.rejects(attempt(connection, REQUEST, 60_000, undefined), { code: "too_large" });
  assert.deepEqual([sent, isCanceled], [65, true]);
});

Deno.test("attempt() tells what happened without showing what it sent", async () => {
  const cause = new TypeError("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND") });
  const connection = answering(() => Promise.reject(cause));
  const request = { ...REQUEST, headers: { "X-Relay-Signature": "secret" } };
  await assert.rejects(attempt(connection, request, 1_000, undefined), (thrown: Error) => {
    assert.deepEqual([thrown.name, thrown.cause], ["NetworkError", cause]);
    assert.match(thrown.message, /relay\.example cannot be reached: getaddrinfo ENOTFOUND$/);
    return !thrown.message.includes("secret");
  });
});

Deno.test("attempt() has no time limit where none is given", async () => {
  const connection = {
    ...answering(() => new Response("x")),
    clock: { now: () => 0, after: () => assert.fail("no timer is set") },
  };
  assert.equal((await attempt(connection, REQUEST, Infinity, undefined)).status, 200);
});
