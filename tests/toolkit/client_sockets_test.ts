/** The client over sockets that really break: what the platform's fetch makes of it is tried again. */
import assert from "node:assert/strict";
import type { Failure } from "../../toolkit/client/connection.ts";
import { RelayClient } from "../../toolkit/client/relay_client.ts";
import { generateKeyPair } from "../../toolkit/mod.ts";
import { startTestRelay } from "../support/relay.ts";

/** How one connection ends: before the answer, the request being carried out; or in its middle. */
type Break = "before the request" | "before the answer" | "in the answer";

/** A port that leads to another one and breaks connections. */
function breakingPort(target: number, breaks: Break[]) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const running = new Set<Promise<void>>();

  async function lead(near: Deno.TcpConn): Promise<void> {
    const how = breaks.shift();
    if (how === "before the request") return near.close();
    const far = await Deno.connect({ hostname: "127.0.0.1", port: target });
    const toRelay = near.readable.pipeTo(far.writable).catch(() => {});
    if (how === undefined) {
      await far.readable.pipeTo(near.writable).catch(() => {});
      await toRelay;
      return;
    }
    const reader = far.readable.getReader();
    const { value } = await reader.read();
    if (how === "in the answer") {
      const writer = near.writable.getWriter();
      await writer.write(value!.subarray(0, value!.length - 5));
    }
    for (const end of [near, far]) {
      try {
        end.close();
      } catch {
        // The other side was faster.
      }
    }
    await toRelay;
  }

  const accepting = (async () => {
    for await (const connection of listener) {
      const one = lead(connection).catch(() => {}).finally(() => running.delete(one));
      running.add(one);
    }
  })();
  return {
    url: `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`,
    async close() {
      listener.close();
      await accepting;
      await Promise.all(running);
    },
  };
}

Deno.test("send() and inbox() over connections that break lose and double nothing", async () => {
  await using relay = await startTestRelay({
    deps: { now: Date.now },
    limits: { inboxPollIntervalMs: 50 },
  });
  const breaks: Break[] = [];
  const port = breakingPort(relay.port, breaks);
  // No connection outlives its request, so that each break meets one.
  const pool = () => Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const failures: Failure[] = [];
  const using = <T>(work: (client: Deno.HttpClient) => Promise<T>): Promise<T> => {
    const client = pool();
    return work(client).finally(() => client.close());
  };
  const options = {
    relay: port.url,
    random: (sizeBytes: number) => new Uint8Array(sizeBytes),
    onRetry: ({ failure }: { failure: Failure }) => void failures.push(failure),
    fetch: (input: string | URL | Request, init?: RequestInit) =>
      using(async (client) => {
        const answer = await fetch(input, { ...init, client });
        // Read here, so that no connection is left when the pool closes.
        const body = await answer.bytes().catch((thrown) => thrown as Error);
        const { status, headers } = answer;
        if (!(body instanceof Error)) return new Response(body, { status, headers });
        const cut = new ReadableStream({ start: (controller) => controller.error(body) });
        return new Response(cut, { status, headers });
      }),
  };
  const keys = generateKeyPair();
  const alice = new RelayClient({ ...options, keys });
  await alice.register({ handle: "alice" });
  const sent: number[] = [];
  const all: Break[] = ["before the request", "before the answer", "in the answer"];
  for (const how of all) {
    breaks.push(how);
    sent.push((await alice.send({ to: keys.address, body: how })).id);
  }
  assert.deepEqual(failures.map(({ code }) => code), ["unreachable", "unreachable", "cut"]);
  breaks.push(...all);
  const received = await Array.fromAsync(alice.inbox({ follow: false }));
  assert.deepEqual(received.map(({ message }) => message.id), sent);
  assert.deepEqual(received.map(({ message }) => message.body), all);
  await port.close();
});
