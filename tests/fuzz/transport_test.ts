/** Requests that break HTTP itself: cut off, drawn out, misframed. The relay answers or closes, and lives on. */
import { connectRaw } from "../support/raw_http.ts";
import { composeRequest, fromRaw } from "../support/raw_request.ts";
import type { Random } from "../support/loose_json.ts";
import { toBytes } from "../support/test_agent.ts";
import { runCampaign, showBytes } from "./fuzz_campaign.ts";
import { fillPath } from "./fuzz_routes.ts";
import { nat, pick } from "./hostile_json.ts";

const BROKEN = { parserMayRefuse: true, mayEndUnanswered: true };
/** How long a server may take to see that a request is whole, or that none can come of it. */
const PATIENCE_MS = 1_000;
const encoder = new TextEncoder();
const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

/** Ways to misframe a request, as text of one character a byte. */
const MISFRAMINGS: readonly ((good: string, random: Random) => string)[] = [
  (good) => good.replace(/Content-Length: \d+/, "Content-Length: 99999999999999999999"),
  (good) => good.replace(/Content-Length: \d+/, "Content-Length: -1"),
  (good) => good.replace(/Content-Length: \d+/, "Content-Length: 0x10"),
  (good) => good.replace(/Content-Length: (\d+)/, "Content-Length: $1\r\nContent-Length: 1"),
  (good) => good.replace(/Content-Length: (\d+)/, "Content-Length: $1, $1"),
  (good) =>
    good.replace(/Content-Length: (\d+)/, "Content-Length: $1\r\nTransfer-Encoding: chunked"),
  (good) => good.replace(/Content-Length: \d+/, "Transfer-Encoding: chunked"),
  (good) => good.replace(/Content-Length: \d+/, "Transfer-Encoding: gzip, chunked"),
  (good) => good.replace(/Content-Length: \d+/, "Transfer-Encoding : chunked"),
  (good) =>
    good.replace(
      /Content-Length: \d+[^]*$/,
      "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    ),
  (good) =>
    good.replace(
      /Content-Length: \d+[^]*$/,
      "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
    ),
  (good) =>
    good.replace(/Content-Length: \d+[^]*$/, "Transfer-Encoding: chunked\r\n\r\n2\r\n{}garbage"),
  (good, random) =>
    good.replace(
      "HTTP/1.1",
      pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "http/1.1", ""], random),
    ),
  (good, random) =>
    good.replace(
      "Host: 127.0.0.1",
      pick(["Host: a\r\nHost: b", "Host:", "X: y", "Host: a b"], random),
    ),
  (good) => good.replaceAll("\r\n", "\n"),
  (good) => good.replaceAll("\r\n", "\r"),
  (good) => good.replace("\r\n", "\r\n folded: header\r\n"),
  (good) => good.replace("\r\n", "\r\nno colon here\r\n"),
  (good) => good.replace("\r\n", `\r\nX-Long: ${"x".repeat(100_000)}\r\n`),
  (good) => good.replace("\r\n", `\r\n${"X-Many: 1\r\n".repeat(3_000)}`),
  (good) => good.replace("\r\n", "\r\nX-Null: a\u0000b\r\n"),
  (good) => good.replace("\r\n", "\r\nExpect: 100-continue\r\n"),
  (good) =>
    good.replace(
      "\r\n",
      "\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n",
    ),
  (good) => good.replace(" /", " http://evil.example/"),
  (good) => good.replace(/ \S+ HTTP/, ` /${"a".repeat(70_000)} HTTP`),
  (good) => good.replace(/^\S+/, "PRI"),
  () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  (good) => `\r\n\r\n${good}`,
  (good) => `${good}GET /v1/whoami HTTP/1.1\r\nHost: x\r\n\r\n`,
  (good, random) => {
    const at = nat(good.length, random);
    return `${good.slice(0, at)}${String.fromCharCode(nat(256, random))}${good.slice(at + 1)}`;
  },
];

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

Deno.test("misframed requests are refused or answered, and none is taken for another", async () => {
  await runCampaign(BROKEN, async ({ relay, context, routes, random, judge }) => {
    const known = routes.filter(({ body, method }) => body !== undefined || method === "GET");
    for (const misframe of MISFRAMINGS) {
      for (let round = 0; round < 2; round++) {
        const route = pick(known, random);
        const target = fillPath(route, context);
        const body = toBytes(route.method === "GET" ? undefined : route.body!(context));
        const headers = context.alice.sign(route.method, target, body);
        const good = composeRequest({ method: route.method, target, headers, body });
        const bytes = bytesOf(misframe(latin1(good), random));
        await judge(showBytes(bytes), route, async () => {
          using connection = await connectRaw(relay.port);
          // A server that has refused already may close while the rest is on its way.
          await connection.send(bytes).catch(() => {});
          // What misses its end is ended, but a whole request must be answered before that: a
          // half-closed connection counts as a client that has left.
          const ending = setTimeout(() => connection.finish().catch(() => {}), PATIENCE_MS);
          const answer = await connection.answer().finally(() => clearTimeout(ending));
          return answer === undefined ? undefined : fromRaw(answer);
        });
      }
    }
  });
});

Deno.test("cut-off requests leave nothing behind, wherever they are cut and however they end", async () => {
  await runCampaign(BROKEN, async ({ relay, context, routes, random, judge }) => {
    for (const route of routes.filter(({ body }) => body !== undefined)) {
      for (let round = 0; round < 16; round++) {
        const target = fillPath(route, context);
        const body = toBytes(route.body!(context));
        const headers = context.alice.sign(route.method, target, body);
        const whole = composeRequest({ method: route.method, target, headers, body });
        const cut = whole.subarray(
          0,
          random() < 0.7 ? whole.length - 1 - nat(body.length, random) : nat(whole.length, random),
        );
        const waits = random() < 0.7;
        await judge(`${waits ? "ended" : "reset"} after ${showBytes(cut)}`, route, async () => {
          using connection = await connectRaw(relay.port);
          await connection.send(cut);
          if (!waits) return undefined;
          await connection.finish();
          const answer = await connection.answer();
          return answer === undefined ? undefined : fromRaw(answer);
        });
      }
    }
  });
});

Deno.test("requests in single bytes are answered while many others never finish", async () => {
  await runCampaign({}, async ({ relay, context, judge }) => {
    const { alice } = context;
    const path = "/v1/messages";
    const compose = (request: string) => {
      const body = encoder.encode(request);
      return composeRequest({
        method: "POST",
        target: path,
        headers: alice.sign("POST", path, body),
        body,
      });
    };
    using unfinished = new DisposableStack();
    for (let i = 0; i < 40; i++) {
      const connection = unfinished.use(await connectRaw(relay.port));
      const whole = compose(`{"to":"bob_1","body":${i}}`);
      await connection.send(whole.subarray(0, i % 2 === 0 ? whole.length - 1 : 40));
    }
    for (
      const request of [
        '{"to":"bob_1","body":"slow"}',
        '{"to":"bob_1","body":',
        '{"to":"nobody","body":1}',
      ]
    ) {
      await judge(`slowly ${request}`, null, async () => {
        using connection = await connectRaw(relay.port);
        for (const byte of compose(request)) await connection.send(new Uint8Array([byte]));
        return fromRaw((await connection.answer())!);
      });
    }
  });
});
