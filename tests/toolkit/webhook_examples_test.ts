/** The receivers of docs/examples, as programs of their own, against what the official library signs. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { partOrSkip } from "../support/part.ts";
import { bundleForNode } from "./node_bundle.ts";
import { followProgram, type Program } from "./relay_program.ts";

const BASE64 = btoa("0123456789abcdefghijklmnopqrstuv");
const OTHER = btoa("another secret of thirty-two by.");
const EVENT = {
  id: "evt_1",
  type: "message.received",
  timestamp: "2026-01-01T00:00:00.000Z",
  org_id: "org_1",
  inbox_id: "ibx_1",
  data: {
    message: { subject: "Gr\u00fc\u00dfe \u202e\x1b[2J\x9b2J" },
    thread: {},
    truncated: false,
  },
};

interface Signing {
  secret?: string;
  ageSeconds?: number;
  headers?: Record<string, string>;
}

function signed(body: string, { secret = BASE64, ageSeconds = 0, headers }: Signing = {}) {
  const seconds = Math.floor(Date.now() / 1000) - ageSeconds;
  return {
    method: "POST",
    body,
    headers: {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(seconds),
      "webhook-signature": new Webhook(secret).sign("evt_1", new Date(seconds * 1000), body),
      ...headers,
    },
  };
}

async function receives(program: Program): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "relay-webhook-" });
  const env = { RELAY_WEBHOOK_SECRET: `rmwh_${BASE64}`, PORT: "0" };
  const receiver = followProgram(program, [], { home, env });
  try {
    const [url] = /http:\S+\//.exec(await receiver.told(/listening at/))!;
    const send = async (init: RequestInit) => {
      const answer = await fetch(url!, init);
      await answer.body?.cancel();
      return answer.status;
    };
    const body = JSON.stringify(EVENT);
    const good = signed(body);
    const signature = good.headers["webhook-signature"];
    const several = (value: string) => signed(body, { headers: { "webhook-signature": value } });
    assert.equal(await send(good), 204);
    assert.equal(await send(good), 204);
    assert.equal(await send(several(`v1,${OTHER} v1a,x ${signature}`)), 204);
    const other = JSON.stringify({ ...EVENT, id: "evt_2", type: "webhook.test", data: {} });
    assert.equal(await send(signed(other)), 204);
    const lines = await receiver.lines(2);
    assert.equal(lines.length, 2, "the same event is printed once");
    assert.match(lines[0]!, /^evt_1 message\.received /);
    assert.match(lines[0]!, /^[ -~]+$/);
    assert.match(lines[1]!, /^evt_2 webhook\.test (?:null|None)$/);

    const refused = [
      signed(body, { secret: OTHER }),
      signed(body, { ageSeconds: 301 }),
      signed(body, { ageSeconds: -302 }),
      { ...good, body: body.replace("evt_1", "evt_3") },
      several(signature.replace("v1,", "v2,")),
      several(""),
      signed(body, { headers: { "webhook-timestamp": "now" } }),
      { method: "POST", body },
    ];
    for (const [n, init] of refused.entries()) assert.equal(await send(init), 401, String(n));
    const large = connect(Number(new URL(url!).port), "127.0.0.1");
    large.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 20 + 1}\r\n\r\n`);
    large.end("x".repeat(2 ** 20 + 1));
    // It may be cut off while it is sent.
    assert.doesNotMatch(await text(large).catch(() => ""), /^HTTP\/1\.1 2/);
    assert.equal(await send(good), 204, "it goes on");
    assert.equal((await receiver.lines(2)).length, 2);
  } finally {
    await receiver.end("SIGTERM");
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("docs/examples/webhook.ts receives and refuses on Deno", () => {
  const permissions = ["--allow-net=127.0.0.1", "--allow-env=RELAY_WEBHOOK_SECRET,PORT"];
  const program = exampleOf("webhook.ts");
  return receives([Deno.execPath(), "run", "--quiet", "--no-prompt", ...permissions, program]);
});

partOrSkip("node", "docs/examples/webhook.ts receives and refuses on Node.js", async (node) => {
  const folder = await Deno.makeTempDir({ prefix: "relay-webhook-" });
  try {
    await receives([node, bundleForNode("docs/examples/webhook.ts", folder)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

partOrSkip("python3", "docs/examples/webhook.py receives and refuses", async (python) => {
  await receives([python, exampleOf("webhook.py")]);
});

function exampleOf(name: string): string {
  return fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));
}
