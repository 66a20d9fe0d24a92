import assert from "node:assert/strict";
import { ask } from "../support/answer.ts";
import { delay } from "../support/pace.ts";
import { connectRaw } from "../support/raw_http.ts";
import { composeRequest } from "../support/raw_request.ts";
import { spawnRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";
import { realTarget } from "../support/traffic.ts";

const OPEN_FILES = 128;
const TRIES = 600;

/** Deno 2.5 reports the failure only when its last connection has gone. */
const ignore = Deno.version.deno.startsWith("2.5.");
const name =
  "main.ts listens again after more connections than it may have open, and answers those that waited";

Deno.test({ name, ignore }, async () => {
  await using relay = await spawnRelay({ openFiles: OPEN_FILES });
  const port = Number(new URL(relay.url).port);
  const alice = await registerAgent(realTarget(relay.url), "alice");
  using waiting = await connectRaw(port);
  const headers = alice.sign("GET", "/v1/inbox");
  const target = "/v1/inbox?wait=25";
  await waiting.send(composeRequest({ method: "GET", target, headers, body: new Uint8Array(0) }));

  using idle = new DisposableStack();
  let hasFailed = false;
  const failure = relay.wrote(/"event":"listener_failed".*Too many open files/)
    .then(() => hasFailed = true);
  for (let i = 0; !hasFailed && i < 4 * OPEN_FILES; i++) {
    const connection = await connectRaw(port).catch(() => delay(1));
    if (connection !== undefined) idle.use(connection);
  }
  await failure;
  // Connections that wait for nothing give way, though nobody at the other end closes them.
  let tries = 0;
  const send = () => alice.send({ to: "alice", body: "through" }).catch(() => undefined);
  while ((await send())?.status !== 201) {
    assert.ok(++tries < TRIES, "it does not listen again");
    await delay(50);
  }
  assert.equal((await waiting.answer())?.status, 200);
  assert.equal((await ask(`${relay.url}/health/db`)).status, 200);
  assert.equal((await relay.terminate()).code, 0);
  assert.doesNotMatch(relay.output().stderr, /unhandled_rejection/);
});
