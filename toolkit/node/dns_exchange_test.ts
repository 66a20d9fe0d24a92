import assert from "node:assert/strict";
import { LateError, nodeDns } from "./dns_exchange.ts";

const QUESTION = new Uint8Array([7, 8, 9]);

/** A server of one connection: what it is asked, what it is given, and when its client has left. */
function startServer(answer: (connection: Deno.TcpConn) => Promise<void>) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const asked = new Uint8Array(QUESTION.length + 2);
  const served = (async () => {
    const connection = await listener.accept() as Deno.TcpConn;
    for (let came = 0; came < asked.length;) {
      came += await connection.read(asked.subarray(came)) ?? NaN;
    }
    await answer(connection);
    const more = await connection.read(new Uint8Array(1)).catch(() => null);
    connection.close();
    return more;
  })();
  const { port } = listener.addr as Deno.NetAddr;
  return {
    server: { host: "127.0.0.1", port, tcp: true as const },
    asked,
    /** @returns null once the client has closed the connection */
    async left() {
      const more = await served;
      listener.close();
      return more;
    },
  };
}

Deno.test("askDnsServer() frames the question, and joins an answer that comes in single bytes", async () => {
  const { server, asked, left } = startServer(async (connection) => {
    for (const byte of [1, 4, ...new Uint8Array(260).fill(5), 66]) {
      await connection.write(new Uint8Array([byte]));
    }
  });
  const answer = await nodeDns.askDnsServer(server, QUESTION, 10_000);
  assert.deepEqual([...asked], [0, 3, 7, 8, 9]);
  assert.deepEqual([...answer], Array(260).fill(5));
  assert.equal(await left(), null);
});

Deno.test("askDnsServer() is late after its time and where its signal aborts, and then hangs up", async () => {
  const silent = startServer(() => Promise.resolve());
  await assert.rejects(nodeDns.askDnsServer(silent.server, QUESTION, 50), LateError);
  assert.equal(await silent.left(), null);

  const abort = new AbortController();
  const half = startServer(async (connection) => {
    await connection.write(new Uint8Array([0, 9, 1]));
    abort.abort();
  });
  const asking = nodeDns.askDnsServer(half.server, QUESTION, 600_000, abort.signal);
  await assert.rejects(asking, LateError);
  assert.equal(await half.left(), null);
  await assert.rejects(
    nodeDns.askDnsServer(half.server, QUESTION, 10_000, abort.signal),
    LateError,
  );
});

Deno.test("askDnsServer() rejects, and is not late, where the server hangs up or is not there", async () => {
  const gone = startServer((connection) => connection.closeWrite());
  const isNotLate = (error: unknown) => error instanceof Error && !(error instanceof LateError);
  await assert.rejects(nodeDns.askDnsServer(gone.server, QUESTION, 10_000), isNotLate);
  await gone.left();
  await assert.rejects(nodeDns.askDnsServer(gone.server, QUESTION, 10_000), isNotLate);
});
