/** `relay mail dns` against a DNS server whose every answer the test writes. */
import assert from "node:assert/strict";
import { run } from "../../toolkit/cli/run.ts";
import { RESOLV_CONF, systemNameservers } from "../../toolkit/mail/resolv_conf.ts";
import { nodeDns } from "../../toolkit/node/dns_exchange.ts";
import { dkimRecord } from "../../toolkit/node/dkim_key.ts";
import { type ScriptedDns, type ScriptedRecords, startScriptedDns } from "../support/dns_server.ts";
import { dkimKey } from "../support/outgoing_mail.ts";
import { partOrSkip } from "../support/part.ts";
import { memoryHost, type MemoryHostState } from "./memory_host.ts";
import { onDeno, ONLINE, onNode, type Program, runProgram } from "./relay_program.ts";

const PEM = dkimKey().privateKeyPem;
const RECORD = dkimRecord(PEM);
const DOMAIN = "agents.example.org";
const DKIM_NAME = `relay1._domainkey.${DOMAIN}`;
const ARGS = [
  ...["mail", "dns", DOMAIN, "--receives=mx.example.org", "--sends=include:spf.example.net"],
  ...["--dkim-key=dkim.pem", "--selector=relay1"],
];

/** Everything that should be published. */
const ZONE: Readonly<Record<string, ScriptedRecords>> = {
  [`MX ${DOMAIN}`]: { MX: ["10 mx.example.org"] },
  "A mx.example.org": { A: ["192.0.2.25"] },
  [`TXT ${DOMAIN}`]: { TXT: ["some-site-verification=1", "v=spf1 include:spf.example.net ~all"] },
  [`TXT ${DKIM_NAME}`]: { TXT: [RECORD] },
  [`TXT _dmarc.${DOMAIN}`]: { TXT: ["v=DMARC1; p=none"] },
};

function serverOf({ server }: ScriptedDns): string {
  return `--server=${server.host}:${server.port}`;
}

async function runVerb(args: readonly string[], state: MemoryHostState = {}) {
  const { askDnsServer } = nodeDns;
  const host = memoryHost(args, { files: { "dkim.pem": PEM }, askDnsServer, ...state });
  const code = await run(host);
  return { code, out: host.out, err: host.err };
}

/** Name and state of each record, by the zone as changed. */
async function stateOf(
  change: Record<string, ScriptedRecords>,
  more: readonly string[] = [],
): Promise<{ code: number; states: Record<string, string> }> {
  await using dns = startScriptedDns({ ...ZONE, ...change });
  const { code, out, err } = await runVerb([...ARGS, serverOf(dns), "--json", ...more]);
  assert.equal(err, "");
  const rows = out.trim().split("\n").map((line) => JSON.parse(line));
  return { code, states: Object.fromEntries(rows.map(({ record, state }) => [record, state])) };
}

const ALL_FINE = { mx: "fine", address: "fine", spf: "fine", dkim: "fine", dmarc: "fine" };

Deno.test("relay mail dns: what it prints and publishes is found fine, with 0", async () => {
  const printed = await runVerb([...ARGS, "--report-to=d@reports.example", "--no-check", "--json"]);
  assert.equal(printed.code, 0, printed.err);
  const rows = printed.out.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(rows.map(({ name, type, values }) => [name, type, ...values]), [
    [DOMAIN, "MX", "10 mx.example.org"],
    [DOMAIN, "TXT", "v=spf1 include:spf.example.net ~all"],
    [DKIM_NAME, "TXT", RECORD],
    [`_dmarc.${DOMAIN}`, "TXT", "v=DMARC1; p=none; rua=mailto:d@reports.example"],
    [`${DOMAIN}._report._dmarc.reports.example`, "TXT", "v=DMARC1"],
  ]);
  assert.ok(rows.every(({ state, published }) => state === null && published === null));
  const zone = Object.fromEntries(
    rows.map((
      { name, type, values },
    ) => [`${type} ${name}`, { [type]: values } as ScriptedRecords]),
  );
  await using dns = startScriptedDns({
    ...zone,
    "AAAA mx.example.org": { AAAA: ["2001:db8:0:0:0:0:0:25"] },
  });
  const args = [...ARGS, "--report-to=d@reports.example", serverOf(dns)];
  const checked = await runVerb(args);
  assert.deepEqual([checked.code, checked.err], [0, ""]);
  const verdicts = checked.out.split("\n").filter((line) => /^\S/.test(line));
  assert.deepEqual(
    verdicts,
    ["MX", "Address", "SPF", "DKIM", "DMARC", "DMARC reports"].map((title) => `${title}: fine`),
  );
});

Deno.test("relay mail dns: each record that is missing, differs or is unknown is told, by its exit code", async () => {
  assert.deepEqual(await stateOf({}), { code: 0, states: ALL_FINE });
  const cases: [Record<string, ScriptedRecords>, Record<string, string>, number][] = [
    [{ [`MX ${DOMAIN}`]: "nxdomain" }, { mx: "missing" }, 1],
    [{ [`MX ${DOMAIN}`]: { MX: ["0 "] } }, { mx: "differs" }, 1],
    [{ [`MX ${DOMAIN}`]: { MX: ["5 mx.example.org", "20 other.example"] } }, { mx: "differs" }, 1],
    [{ "A mx.example.org": { A: [] } }, { address: "missing" }, 1],
    [{ "A mx.example.org": "servfail" }, { address: "unknown" }, 5],
    [{ [`TXT ${DOMAIN}`]: { TXT: ["else"] } }, { spf: "missing" }, 1],
    [{ [`TXT ${DOMAIN}`]: { TXT: ["v=spf1 mx -all"] } }, { spf: "differs" }, 1],
    [{ [`TXT ${DOMAIN}`]: "refused" }, { spf: "unknown" }, 5],
    [{ [`TXT ${DKIM_NAME}`]: { TXT: [] } }, { dkim: "missing" }, 1],
    [{ [`TXT ${DKIM_NAME}`]: { TXT: [RECORD.replace("AQAB", "AQAC")] } }, { dkim: "differs" }, 1],
    [{ [`TXT ${DKIM_NAME}`]: "cut" }, { dkim: "unknown" }, 5],
    [{ [`TXT _dmarc.${DOMAIN}`]: "nonsense" }, { dmarc: "unknown" }, 5],
    [{ [`TXT _dmarc.${DOMAIN}`]: { TXT: ["v=DMARC1"] } }, { dmarc: "differs" }, 1],
    // What is wrong counts for more than what is not known.
    [
      { [`TXT _dmarc.${DOMAIN}`]: "servfail", [`MX ${DOMAIN}`]: "nxdomain" },
      { dmarc: "unknown", mx: "missing" },
      1,
    ],
  ];
  assert.equal(cases.length, 14);
  for (const [change, states, code] of cases) {
    assert.deepEqual(await stateOf(change), { code, states: { ...ALL_FINE, ...states } });
  }
  // One address is enough.
  const half = await stateOf({ "AAAA mx.example.org": "servfail" });
  assert.deepEqual(half, { code: 0, states: ALL_FINE });
  const strict = await stateOf({}, ["--dmarc=reject"]);
  assert.deepEqual(strict, { code: 1, states: { ...ALL_FINE, dmarc: "differs" } });
});

Deno.test("relay mail dns follows an alias, and says in words what stands there", async () => {
  await using dns = startScriptedDns({
    ...ZONE,
    [`TXT ${DKIM_NAME}`]: { CNAME: "keys.provider.example" },
    "TXT keys.provider.example": { TXT: [RECORD] },
    [`TXT ${DOMAIN}`]: { TXT: ["v=spf1 +all\u001b[31m"] },
  });
  const { code, out } = await runVerb([...ARGS, serverOf(dns)]);
  assert.equal(code, 1);
  assert.match(out, /^DKIM: fine$/m);
  assert.match(out, /^SPF: differs, include:spf\.example\.net is not in the record$/m);
  assert.match(out, /^ {2}value {2}v=spf1 include:spf\.example\.net ~all$/m);
  assert.match(out, /^ {2}found {2}v=spf1 \+all\\u\{1b\}\[31m$/m);
});

Deno.test("relay mail dns asks the next server where one does not know", async () => {
  await using broken = startScriptedDns(
    Object.fromEntries(Object.keys(ZONE).map((name) => [name, "servfail" as const])),
  );
  await using good = startScriptedDns(ZONE);
  const both = `${serverOf(broken)},${serverOf(good).slice("--server=".length)}`;
  assert.equal((await runVerb([...ARGS, both])).code, 0);
  const env = { RELAY_DNS_SERVERS: both.slice("--server=".length) };
  assert.equal((await runVerb(ARGS, { env })).code, 0);
  assert.ok(broken.asked.length >= 10);
});

Deno.test("relay mail dns takes domain and key from the relay's settings, and does without a key", async () => {
  await using dns = startScriptedDns(ZONE);
  const args = ["mail", "dns", "--receives=MX.example.org.", "--sends=include:SPF.example.net"];
  const env = {
    RELAY_MAIL_DOMAIN: DOMAIN,
    RELAY_MAIL_DKIM_KEY: PEM.replaceAll("\n", "\\n"),
    RELAY_MAIL_DKIM_SELECTOR: "relay1",
    RELAY_DNS_SERVERS: serverOf(dns).slice("--server=".length),
  };
  const { code, out, err } = await runVerb(args, { env });
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^DKIM: fine$/m);
  const { RELAY_MAIL_DKIM_KEY: _, ...unsigned } = env;
  const without = await runVerb(args, { env: unsigned });
  assert.equal(without.code, 0);
  assert.match(without.out, /DKIM: not looked at/);
});

Deno.test("relay mail dns refuses what it cannot take, and never shows the key", async () => {
  const secret = PEM.split("\n")[5]!;
  const files = { "dkim.pem": PEM, "cut.pem": PEM.slice(0, 900), "empty.pem": "" };
  const both = ["--receives=mx.example.org", "--sends=mx"];
  const cases: [string[], RegExp][] = [
    [[...both], /which domain/],
    [["nodot", ...both], /the domain must be a name/],
    [[DOMAIN, "--sends=mx"], /--receives=HOST/],
    [[DOMAIN, "--receives=mx.example.org"], /--sends=WHO/],
    [[DOMAIN, "--receives=192.0.2.1", "--sends=mx"], /--receives must be/],
    [[DOMAIN, ...both, "--sends=spf.example.net"], /--sends takes/],
    [[DOMAIN, ...both, "--sends=include:x.example all"], /--sends takes/],
    [[DOMAIN, ...both, "--sends=ip4:2001:db8::1"], /--sends takes/],
    [[DOMAIN, ...both, "--dmarc=maybe"], /--dmarc takes/],
    [[DOMAIN, ...both, "--report-to=a@b.org,mailto:c@d.org"], /--report-to takes/],
    [[DOMAIN, ...both, "--selector=s1"], /--dkim-key/],
    [[DOMAIN, ...both, "--dkim-key=dkim.pem"], /--selector=S/],
    [[DOMAIN, ...both, "--dkim-key=dkim.pem", "--selector=a;b"], /--selector=S/],
    [[DOMAIN, ...both, "--dkim-key=cut.pem", "--selector=s1"], /RSA key of at least 2048 bits/],
    [[DOMAIN, ...both, "--dkim-key=empty.pem", "--selector=s1"], /RSA key/],
    [[DOMAIN, ...both, "--dkim-key=gone", "--selector=s1"], /cannot read 'gone'/],
    [[DOMAIN, ...both, "--server=dns.example.org"], /--server takes IP addresses/],
    [[DOMAIN, ...both, "--server=127.0.0.1:0"], /--server takes IP addresses/],
    [[DOMAIN, ...both], /names no DNS server/],
  ];
  assert.equal(cases.length, 19);
  for (const [args, words] of cases) {
    const { code, out, err } = await runVerb(["mail", "dns", ...args], { files });
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, words);
    assert.ok(!err.includes(secret) && !err.includes("BEGIN"));
  }
  const printed = await runVerb([...ARGS, "--no-check"]);
  assert.ok(!printed.out.includes(secret));
  assert.ok(printed.out.includes(RECORD));
});

async function checkFromOutside(program: Program): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "relay-home-" });
  try {
    await Deno.writeTextFile(`${home}/dkim.pem`, PEM);
    await using dns = startScriptedDns(ZONE);
    const args = ARGS.map((one) => one.replace("=dkim.pem", `=${home}/dkim.pem`));
    const fine = await runProgram(program, [...args, serverOf(dns)], { home });
    assert.deepEqual([fine.code, fine.err], [0, ""]);
    dns.zone.delete(`MX ${DOMAIN}`);
    assert.equal((await runProgram(program, [...args, serverOf(dns)], { home })).code, 1);
    // Nobody listens there.
    const gone = await runProgram(program, [...args, "--server=127.0.0.1:1"], { home });
    assert.equal(gone.code, 5, gone.err);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("nodeDns finds the system's servers with the permissions of the command line", async () => {
  const module = new URL("../../toolkit/node/dns_exchange.ts", import.meta.url).href;
  const program = `import { nodeDns } from ${JSON.stringify(module)};
console.log(JSON.stringify(nodeDns.systemDnsServers()));`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...ONLINE, "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Blob([program]).stream().pipeTo(child.stdin);
  const { code, stdout, stderr } = await child.output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const servers = JSON.parse(new TextDecoder().decode(stdout));
  const file = await Deno.readTextFile(RESOLV_CONF).catch(() => "");
  const expected = [...new Set(systemNameservers(file))].map((host) => ({ host, port: 53 }));
  if (expected.length > 0) assert.deepEqual(servers, expected);
  else assert.ok(Array.isArray(servers));
});

Deno.test("relay mail dns on Deno, from outside", () => checkFromOutside(onDeno(ONLINE)));

partOrSkip("node", "relay mail dns on Node.js, from outside", async (node) => {
  const folder = await Deno.makeTempDir({ prefix: "relay-bundle-" });
  try {
    await checkFromOutside(onNode(node, folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
