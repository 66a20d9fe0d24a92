import assert from "node:assert/strict";
import { connect, Socket } from "node:net";
import {
  dripInto,
  outsideOf,
  type RawReceiver,
  startRawReceiver,
} from "../../../tests/support/outside_rig.ts";
import { type ScriptedRecords, startScriptedDns } from "../../../tests/support/dns_server.ts";
import type { Connect } from "./open_connection.ts";
import type { Outside, OutsideAnswer, OutsideOptions } from "./outside.ts";

const SHORT_MS = 300;
/** Counts as public; connections to it reach the one listener, those to any other address the other. */
const PUBLIC = "192.0.2.1";
const REMOTE = "127.0.0.1";

/** Two listeners, of which strangers may reach one. Neither speaks TLS: what was reached shows in connections. */
async function startBothSides(): Promise<
  & { open: RawReceiver; closed: RawReceiver; tried: string[]; connect: Connect }
  & AsyncDisposable
> {
  const [open, closed] = await Promise.all(
    [1, 2].map(() => startRawReceiver((socket) => void socket.end("no"), { atOnce: true })),
  ) as [RawReceiver, RawReceiver];
  const tried: string[] = [];
  return {
    open,
    closed,
    tried,
    connect: ({ host }) => {
      tried.push(host);
      return connect({ host: REMOTE, port: (host === PUBLIC ? open : closed).port });
    },
    async [Symbol.asyncDispose]() {
      await open[Symbol.asyncDispose]();
      await closed[Symbol.asyncDispose]();
    },
  };
}

function strictOutside(options: Parameters<typeof outsideOf>[0]): Outside {
  return outsideOf({
    allowLoopback: false,
    isAllowed: (address) => address === PUBLIC || address === REMOTE,
    ...options,
  });
}

function post(outside: Outside, url: string): Promise<OutsideAnswer> {
  const body = new TextEncoder().encode("{}");
  return outside.post({ url, headers: {}, body, signal: new AbortController().signal });
}

function outcome({ status, error }: OutsideAnswer): string {
  return `${status} ${error}`;
}

/** What comes of a post to hook.example with these records, and how often each side was reached. */
async function reached(
  zone: Record<string, ScriptedRecords>,
  options: Partial<OutsideOptions> = {},
): Promise<[outcome: string, open: number, closed: number]> {
  await using sides = await startBothSides();
  await using dns = startScriptedDns(zone);
  const outside = strictOutside({ dns: dns.server, connect: sides.connect, ...options });
  const got = await post(outside, "https://hook.example/");
  return [outcome(got), sides.open.connections, sides.closed.connections];
}

Deno.test("Outside.post() connects to the address that it judged, whatever DNS says the next time", async () => {
  await using sides = await startBothSides();
  await using dns = startScriptedDns();
  let asked = 0;
  dns.zone.get = (question) => {
    if (question !== "A hook.example") return "nxdomain";
    return { A: [asked++ === 0 ? PUBLIC : "127.0.0.9"] };
  };
  const outside = strictOutside({ dns: dns.server, connect: sides.connect });
  const url = "https://hook.example/";
  assert.equal(outcome(await post(outside, url)), "null tls");
  assert.deepEqual([asked, sides.open.connections, sides.closed.connections], [1, 1, 0]);
  assert.equal(outcome(await post(outside, url)), "null blocked_address");
  assert.deepEqual([asked, sides.open.connections, sides.closed.connections], [2, 1, 0]);
  assert.deepEqual(sides.tried, [PUBLIC]);
});

Deno.test("Outside.post() connects to none of several addresses where one is not public", async () => {
  const blocked = ["null blocked_address", 0, 0];
  assert.deepEqual(await reached({ "A hook.example": { A: [PUBLIC] } }), ["null tls", 1, 0]);
  const bad: Record<string, ScriptedRecords>[] = [
    { "A hook.example": { A: ["127.0.0.9"] } },
    { "A hook.example": { A: [PUBLIC, "127.0.0.9"] } },
    { "A hook.example": { A: ["10.0.0.1", PUBLIC] } },
    { "A hook.example": { A: [PUBLIC] }, "AAAA hook.example": { AAAA: ["0:0:0:0:0:0:0:1"] } },
    { "AAAA hook.example": { AAAA: ["0:0:0:0:0:ffff:7f00:1"] } },
    { "A hook.example": { CNAME: "rebind.example" }, "A rebind.example": { A: ["127.0.0.9"] } },
  ];
  for (const zone of bad) assert.deepEqual(await reached(zone), blocked, JSON.stringify(zone));
});

Deno.test("Outside.post() judges what names resolve to by the real table", async () => {
  await using dns = startScriptedDns();
  const outside = outsideOf({
    allowLoopback: false,
    dns: dns.server,
    connect: () => assert.fail("connected"),
  });
  const addresses = {
    A: ["127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254", "168.63.129.16", "100.100.100.200"],
    AAAA: [
      "0:0:0:0:0:0:0:1",
      "0:0:0:0:0:ffff:7f00:1",
      "fd00:ec2:0:0:0:0:0:254",
      "fe80:0:0:0:0:0:0:1",
    ],
  };
  for (const [type, list] of Object.entries(addresses)) {
    for (const address of list) {
      dns.zone.clear();
      const records = type === "A" ? { A: [address] } : { AAAA: [address] };
      dns.zone.set(`${type} hook.example`, records);
      const got = await post(outside, "https://hook.example/");
      assert.equal(outcome(got), "null blocked_address", address);
    }
  }
  assert.equal(dns.asked.length, 2 * (addresses.A.length + addresses.AAAA.length));
});

Deno.test("Outside.post() judges the very socket before a byte is sent", async () => {
  await using sides = await startBothSides();
  const outside = strictOutside({
    isAllowed: (address) => address === PUBLIC,
    resolve: () => Promise.resolve([PUBLIC]),
    connect: () => connect({ host: REMOTE, port: sides.closed.port }),
  });
  const got = await post(outside, "https://hook.example/");
  assert.equal(outcome(got), "null blocked_address");
  await sides.closed.deserted();
  assert.deepEqual([sides.closed.connections, sides.closed.received], [1, ""]);
});

Deno.test("Outside.post() says dns where no server knows an address", async () => {
  for (const fault of ["nxdomain", "servfail", "refused", "cut", "nonsense"] as const) {
    const zone = { "A hook.example": fault, "AAAA hook.example": fault };
    assert.deepEqual(await reached(zone), ["null dns", 0, 0], fault);
  }
  const alias = { "A hook.example": { CNAME: "nobody.example" } };
  assert.deepEqual(await reached(alias), ["null dns", 0, 0]);
  const half: Record<string, ScriptedRecords> = {
    "A hook.example": { A: [PUBLIC] },
    "AAAA hook.example": "servfail",
  };
  assert.deepEqual(await reached(half), ["null tls", 1, 0]);
  const empty = { resolve: () => Promise.resolve([]) };
  assert.deepEqual(await reached({}, empty), ["null dns", 0, 0]);
});

Deno.test("Outside.post() is late where DNS, a connection or TLS say nothing", async () => {
  const limitMs = SHORT_MS;
  const silence = { "A hook.example": "silence", "AAAA hook.example": "silence" } as const;
  assert.deepEqual(await reached(silence, { limitMs }), ["null timeout", 0, 0]);
  const resolve = () => new Promise<string[]>(() => {});
  assert.deepEqual(await reached({}, { limitMs, resolve }), ["null timeout", 0, 0]);
  const hung = { limitMs, connect: () => new Socket() };
  assert.deepEqual(await reached({ "A hook.example": { A: [PUBLIC] } }, hung), [
    "null timeout",
    0,
    0,
  ]);
  for (const answer of [() => {}, (socket: Socket) => dripInto(socket, 5, "\x16")]) {
    await using receiver = await startRawReceiver(answer, { atOnce: true });
    const got = await post(outsideOf({ limitMs }), `https://127.0.0.1:${receiver.port}/`);
    assert.match(outcome(got), answer.length === 0 ? /^null timeout$/ : /^null (?:timeout|tls)$/);
    await receiver.deserted();
  }
});

Deno.test("Outside.post() tries further addresses where one does not answer, each for its share", async () => {
  await using sides = await startBothSides();
  const addresses = ["192.0.2.3", "192.0.2.2", PUBLIC];
  const outside = strictOutside({
    limitMs: 4 * SHORT_MS,
    isAllowed: (address) => addresses.includes(address) || address === REMOTE,
    resolve: () => Promise.resolve(addresses),
    connect: (to) => {
      const socket = sides.connect(to);
      if (to.host === PUBLIC) return socket;
      socket.destroy();
      return to.host === addresses[0] ? new Socket() : new Socket().destroy(new Error("refused"));
    },
  });
  const got = await post(outside, "https://hook.example/");
  assert.deepEqual([outcome(got), sides.open.connections], ["null tls", 1]);
  assert.deepEqual(sides.tried, addresses);

  const many = Array.from({ length: 90 }, (_, index) => `192.0.2.${index + 100}`);
  const down: string[] = [];
  const lost = strictOutside({
    isAllowed: () => true,
    resolve: () => Promise.resolve(many),
    connect: (to) => {
      down.push(to.host);
      return new Socket().destroy(new Error("unreachable"));
    },
  });
  assert.equal(outcome(await post(lost, "https://hook.example/")), "null connect");
  assert.deepEqual(down, many.slice(0, 4));
});

Deno.test("Outside.post() asks no resolver for localhost, literals and anything in local mode", async () => {
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  await using receiver = await startRawReceiver((socket) => void socket.end(answer));
  let asked = 0;
  const resolve = () => {
    asked++;
    return Promise.resolve(["127.0.0.1"]);
  };
  for (const local of [false, true]) {
    const outside = outsideOf({ local, resolve });
    for (const host of ["localhost", "127.0.0.1", "127.1"]) {
      assert.equal(outcome(await post(outside, `http://${host}:${receiver.port}/`)), "200 null");
    }
  }
  const local = outsideOf({ local: true, resolve, connect: () => assert.fail("connected") });
  for (const url of ["https://hook.example/", "https://8.8.8.8/", "https://[2606:4700::1111]/"]) {
    assert.equal(outcome(await post(local, url)), "null blocked_address", url);
  }
  assert.equal(asked, 0);
});
