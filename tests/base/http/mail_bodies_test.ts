/** Bodies of many megabytes in the pool of the mail area, over sockets, beside a relay's sends. */
import assert from "node:assert/strict";
import { answerJson } from "../../../server/base/http/answers/answer.ts";
import { type BodyReader, createBodyReader } from "../../../server/base/http/bodies/body_reader.ts";
import { BODY_POOLS } from "../../../server/base/http/bodies/body_pools.ts";
import { readBody } from "../../../server/base/http/routes/read_body.ts";
import type { Route } from "../../../server/base/http/routes/route.ts";
import { startApp } from "../../support/app_server.ts";
import { assertStatus } from "../../support/answer.ts";
import { connectRaw, errorCode, type RawAnswer } from "../../support/raw_http.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const LIMIT_BYTES = 36 * MIB;
const ROOM_BYTES = BODY_POOLS.mail.bounds.totalBytes;
const PIECE = new Uint8Array(MIB).fill(97);

/** A route of the mail pool that has each body in hand until it is let go. */
function mailRoute() {
  const letGo = Promise.withResolvers<void>();
  const state = { held: 0, heldBytes: 0, letGo: letGo.resolve };
  const route: Route = {
    method: "POST",
    path: "/mail",
    body: { limitBytes: LIMIT_BYTES, pool: "mail" },
    async handle(c) {
      const { length } = await readBody(c);
      state.held++;
      state.heldBytes += length;
      await letGo.promise;
      return answerJson({ sizeBytes: length });
    },
  };
  return { state, route };
}

/** A relay and the mail route, at two ports of one process, with one reader of bodies. */
async function startBoth() {
  const stack = new AsyncDisposableStack();
  const bodies: BodyReader = createBodyReader();
  const { state, route } = mailRoute();
  const limits = { sendsPerAgentPerMinute: 100_000 };
  const relay = stack.use(await startTestRelay({ limits, relay: { bodies } }));
  const mail = stack.use(await startApp([route], { bodies, config: { trustedProxyHops: 1 } }));
  const [alice] = await registerAgents(relay, "alice", "bob_1");

  /** A send whose body has room of its own as a small one, and one that shares with large ones. */
  async function sendBoth(): Promise<void> {
    assertStatus(await alice.send({ to: "bob_1", body: "a".repeat(300) }), 201);
    assertStatus(await alice.send({ to: "bob_1", body: "a".repeat(60_000) }), 201);
  }

  return {
    state,
    mail,
    /** Sends until each upload is in hand or answered. */
    async sendMeanwhile(uploads: readonly { isAnswered: boolean }[]): Promise<void> {
      const answered = () => uploads.filter(({ isAnswered }) => isAnswered).length;
      while (state.held + answered() < uploads.length) await sendBoth();
    },
    sendBoth,
    async [Symbol.asyncDispose]() {
      state.letGo(); // or a test that fails waits for its handlers
      await stack.disposeAsync();
    },
  };
}

/** An upload of an address of its own, sent piece by piece until it is whole or answered. */
async function startUpload(port: number, name: number, sizeBytes: number) {
  const connection = await connectRaw(port);
  await connection.send(
    `POST /mail HTTP/1.1\r\nHost: relay.test\r\nX-Forwarded-For: 192.0.2.${name}\r\n` +
      `Content-Length: ${sizeBytes}\r\n\r\n`,
  );
  let leftBytes = sizeBytes;
  const upload = {
    answer: connection.answer(),
    isAnswered: false,
    isSent: () => leftBytes === 0 || upload.isAnswered,
    async sendPiece() {
      const piece = PIECE.subarray(0, leftBytes);
      if (!upload.isSent()) await connection.send(piece);
      leftBytes -= piece.length;
    },
    async sendAll() {
      while (!upload.isSent()) await upload.sendPiece();
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
  const end = () => void (upload.isAnswered = true);
  upload.answer.then(end, end);
  return upload;
}

function assertRefusedForRoom(answer: RawAnswer | undefined): void {
  assert.deepEqual([answer?.status, errorCode(answer)], [503, "unavailable"]);
  assert.equal(answer?.headers.get("retry-after"), "1");
}

Deno.test("seven slow uploads of 25 to 35 MB let every send be stored, and hold no more than their room", async () => {
  await using both = await startBoth();
  using stack = new DisposableStack();
  const sizes = [25, 27, 29, 30, 31, 33, 35].map((megabytes) => megabytes * 1_000_000);
  const uploads = await Promise.all(
    sizes.map(async (size, index) => stack.use(await startUpload(both.mail.port, index, size))),
  );
  while (!uploads.every((upload) => upload.isSent())) {
    await Promise.all([both.sendBoth(), ...uploads.map((upload) => upload.sendPiece())]);
  }
  await both.sendMeanwhile(uploads);
  assert.ok(both.state.heldBytes <= ROOM_BYTES);
  both.state.letGo();
  const answers = await Promise.all(uploads.map(({ answer }) => answer));
  const refused = answers.filter((answer) => answer?.status !== 200);
  refused.forEach(assertRefusedForRoom);
  assert.equal(refused.length, 3, "any four have room together, and no five");
  assert.deepEqual(both.mail.logged, []);
});

Deno.test("mails in hand that fill their room refuse a further mail with 503, and no send", async () => {
  await using both = await startBoth();
  using stack = new DisposableStack();
  const uploads = await Promise.all([1, 2, 3, 4].map(async (name) => {
    const upload = stack.use(await startUpload(both.mail.port, name, ROOM_BYTES / 4));
    await upload.sendAll();
    return upload;
  }));
  await both.sendMeanwhile(uploads);
  assert.equal(both.state.heldBytes, ROOM_BYTES);
  using further = await startUpload(both.mail.port, 5, 20_000);
  await further.sendAll();
  assertRefusedForRoom(await further.answer);
  await both.sendBoth();
  both.state.letGo();
  for (const { answer } of uploads) assert.equal((await answer)?.status, 200);
  using later = await startUpload(both.mail.port, 6, 20_000);
  await later.sendAll();
  assert.equal((await later.answer)?.status, 200);
});

Deno.test("readBody() refuses a mail over its route's limit by Content-Length, and while it reads", async () => {
  const { state, route } = mailRoute();
  state.letGo();
  await using app = await startApp([route]);
  const head = (framing: string) => `POST /mail HTTP/1.1\r\nHost: relay.test\r\n${framing}\r\n\r\n`;
  using announced = await connectRaw(app.port);
  await announced.send(head(`Content-Length: ${LIMIT_BYTES + 1}`));
  const answer = await announced.answer();
  assert.deepEqual([answer?.status, errorCode(answer)], [413, "payload_too_large"]);

  using chunked = await connectRaw(app.port);
  await chunked.send(head("Transfer-Encoding: chunked"));
  const refusal = chunked.answer();
  const sendChunk = async (bytes: Uint8Array) => {
    await chunked.send(`${bytes.length.toString(16)}\r\n`);
    await chunked.send(bytes);
    await chunked.send("\r\n");
  };
  for (let came = 0; came < LIMIT_BYTES; came += MIB) await sendChunk(PIECE);
  await sendChunk(PIECE.subarray(0, 1));
  assert.equal((await refusal)?.status, 413);

  using whole = await startUpload(app.port, 1, LIMIT_BYTES);
  await whole.sendAll();
  const { sizeBytes } = JSON.parse((await whole.answer)!.body);
  assert.equal(sizeBytes, LIMIT_BYTES);
});
