/** `relay mail dns --check`: what stands around the records of a domain. */
import assert from "node:assert/strict";
import { TLSSocket } from "node:tls";
import { run } from "../../toolkit/cli/run.ts";
import { callMailServer } from "../../toolkit/node/call_mail_server.ts";
import { nodeDns } from "../../toolkit/node/dns_exchange.ts";
import { type ScriptedRecords, startScriptedDns } from "../support/dns_server.ts";
import { startSmtpServer } from "../support/smtp_server.ts";
import { memoryHost, type MemoryHostState } from "./memory_host.ts";

/** What smtp-server does for STARTTLS needs it, and Deno 2.5 does not have it. */
const testTls = "getProtocol" in TLSSocket.prototype ? Deno.test : Deno.test.ignore;

const DOMAIN = "agents.example.org";
const ZONE: Readonly<Record<string, ScriptedRecords>> = {
  [`MX ${DOMAIN}`]: { MX: ["10 smtp.test"] },
  "A smtp.test": { A: ["192.0.2.25"] },
  "PTR 25.2.0.192.in-addr.arpa": { PTR: ["smtp.test"] },
  [`TXT ${DOMAIN}`]: { TXT: ["v=spf1 mx ~all"] },
  [`TXT _dmarc.${DOMAIN}`]: { TXT: ["v=DMARC1; p=none"] },
  [`TXT _mta-sts.${DOMAIN}`]: { TXT: ["v=STSv1; id=1"] },
  [`TXT _smtp._tls.${DOMAIN}`]: { TXT: ["v=TLSRPTv1; rua=mailto:tls@example.org"] },
};
const POLICY = "version: STSv1\r\nmode: enforce\r\nmx: smtp.test\r\nmax_age: 604800\r\n";
const CERTIFICATE = Deno.readTextFileSync(
  new URL("../base/outgoing/certificates/server.pem", import.meta.url),
);
const FINE = {
  mta_sts: "fine",
  mta_sts_policy: "fine",
  tls_reports: "fine",
  reverse: "fine",
  port_25: "fine",
  certificate: "fine",
};
/** While the certificate is valid. */
const NOW = Date.UTC(2027, 0, 1);

interface Changed {
  zone?: Record<string, ScriptedRecords>;
  policy?: () => Promise<Response>;
  certificate?: string;
  state?: MemoryHostState;
  nowMs?: number;
}

/** What is not one of the domain's own records, and the exit code. */
async function lookAround(port: number, changed: Changed = {}) {
  await using dns = startScriptedDns({ ...ZONE, ...changed.zone });
  const fetched: string[] = [];
  const host = memoryHost([
    ...["mail", "dns", DOMAIN, "--receives=smtp.test", "--sends=mx", "--check", "--json"],
    ...["--tls-cert=cert.pem", `--port=${port}`],
    `--server=${dns.server.host}:${dns.server.port}`,
  ], {
    askDnsServer: nodeDns.askDnsServer,
    callMailServer: (call) => callMailServer({ ...call, host: "127.0.0.1", timeoutMs: 5_000 }),
    fetch(input) {
      fetched.push(String(input));
      return changed.policy?.() ?? Promise.resolve(new Response(POLICY));
    },
    files: { "cert.pem": changed.certificate ?? CERTIFICATE },
    clock: { now: () => changed.nowMs ?? NOW, after: () => () => {} },
    ...changed.state,
  });
  const code = await run(host);
  const rows = host.out.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  const around = rows.filter(({ record }) => record in FINE);
  return {
    code,
    err: host.err,
    around,
    fetched,
    states: Object.fromEntries(around.map(({ record, state }) => [record, state])),
  };
}

testTls("relay mail dns --check finds a domain fine that has all of it", async () => {
  await using server = await startSmtpServer({ disabledCommands: ["AUTH"] });
  const { code, err, states, around, fetched } = await lookAround(server.port);
  assert.deepEqual([code, err, states], [0, "", FINE]);
  assert.deepEqual(fetched, [`https://mta-sts.${DOMAIN}/.well-known/mta-sts.txt`]);
  assert.match(around.find(({ record }) => record === "port_25").why, /not trusted/);
  assert.equal(server.transactions(), 0);
});

testTls(
  "relay mail dns --check says what is missing, differs or is not known, and what to write",
  async () => {
    await using server = await startSmtpServer({ disabledCommands: ["AUTH"] });
    await using plain = await startSmtpServer();
    const gone = () => Promise.resolve(new Response("", { status: 404 }));
    const endless = () =>
      Promise.resolve(
        new Response(
          new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(16_384).fill(65)) }),
        ),
      );
    const moved = () =>
      Promise.resolve(new Response(null, { status: 302, headers: { Location: "https://x/" } }));
    const reverse = "PTR 25.2.0.192.in-addr.arpa";
    const cases: [Changed, Record<string, string>, number, number?][] = [
      // Both are optional, but a record without its policy is broken.
      [{ zone: { [`TXT _mta-sts.${DOMAIN}`]: "nxdomain" } }, { mta_sts: "missing" }, 0],
      [
        { zone: { [`TXT _mta-sts.${DOMAIN}`]: "nxdomain" }, policy: gone },
        { mta_sts: "missing", mta_sts_policy: "missing" },
        0,
      ],
      [{ zone: { [`TXT _mta-sts.${DOMAIN}`]: "servfail" } }, { mta_sts: "unknown" }, 5],
      [{ policy: gone }, { mta_sts_policy: "missing" }, 1],
      [{ policy: moved }, { mta_sts_policy: "missing" }, 1],
      [{ policy: endless }, { mta_sts_policy: "missing" }, 1],
      [{ policy: () => Promise.reject(new TypeError("x")) }, { mta_sts_policy: "missing" }, 1],
      [
        { policy: () => Promise.resolve(new Response(POLICY.replace("smtp.test", "mx.test"))) },
        { mta_sts_policy: "differs" },
        1,
      ],
      [{ zone: { [`TXT _smtp._tls.${DOMAIN}`]: { TXT: [] } } }, { tls_reports: "missing" }, 0],
      [{ zone: { [reverse]: "nxdomain" } }, { reverse: "missing" }, 1],
      [{ zone: { [reverse]: { PTR: ["host.isp.example"] } } }, { reverse: "differs" }, 1],
      [{ zone: { [reverse]: "servfail" } }, { reverse: "unknown" }, 5],
      [{}, { port_25: "differs" }, 1, plain.port],
      [{}, { port_25: "unknown" }, 5, 1],
      [{ nowMs: 0 }, { certificate: "differs" }, 1],
      [{ nowMs: Date.UTC(9999, 0, 1) }, { certificate: "differs" }, 1],
    ];
    for (const [changed, states, code, port = server.port] of cases) {
      const found = await lookAround(port, changed);
      assert.deepEqual([found.code, found.states], [code, { ...FINE, ...states }], found.err);
    }
    const { around } = await lookAround(server.port, { zone: { [reverse]: "nxdomain" } });
    const written = around.map(({ name, type, values }) => [name, type, ...values]);
    assert.deepEqual(written.slice(0, 4), [
      [`_mta-sts.${DOMAIN}`, "TXT", "v=STSv1; id=1"],
      [
        `https://mta-sts.${DOMAIN}/.well-known/mta-sts.txt`,
        "HTTPS",
        "version: STSv1",
        "mode: testing",
        "mx: smtp.test",
        "max_age: 86400",
      ],
      [`_smtp._tls.${DOMAIN}`, "TXT", `v=TLSRPTv1; rua=mailto:postmaster@${DOMAIN}`],
      ["25.2.0.192.in-addr.arpa", "PTR", "smtp.test"],
    ]);
  },
);

Deno.test("relay mail dns --check refuses a certificate file that is none", async () => {
  await using server = await startSmtpServer();
  for (const certificate of ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n"]) {
    const { code, err } = await lookAround(server.port, { certificate });
    assert.equal(code, 2);
    assert.match(err, /'cert\.pem' holds no certificate/);
  }
});
