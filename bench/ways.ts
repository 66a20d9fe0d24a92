/**
 * What of the relay runs on the way of a send, of an inbound mail, of an approval and of a page:
 * files and functions of server/ and toolkit/, workers included, by V8's precise coverage of a
 * relay in a process of its own, on an embedded store, before an SMTP server.
 *
 *     deno run -A bench/ways.ts [send] [inbound] [approval] [page] [--json]
 *
 * Each step begins when the relay has rested for some seconds, and is quiet: nothing of it ran for a
 * while. It is walked six times; the first two are not counted, and a function counts when it
 * ran in each of the other four. So neither an opening, nor a cache that is filled, nor a tick in the
 * background adds any. What is cached for a second or two is made again.
 */
import { parseArgs } from "node:util";
import { accepted, type MailKeyHolder } from "../tests/support/mail_caller.ts";
import { assertStatus } from "../tests/support/answer.ts";
import { dkimSigned, makeDkimKey } from "../tests/support/dkim_mail.ts";
import { startScriptedDns } from "../tests/support/dns_server.ts";
import { decide, LETTER, linkIn, newDraft, openPage } from "../tests/support/draft_world.ts";
import { handIn } from "../tests/support/inbound_mail.ts";
import { BROWSER } from "../tests/support/mail_links.ts";
import { delay } from "../tests/support/pace.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../tests/support/smtp_server.ts";
import { spawnRelay } from "../tests/support/spawn_relay.ts";
import { newClaimedOrg } from "../tests/support/spawned_org.ts";
import { registerAgent } from "../tests/support/test_agent.ts";
import { realTarget, TRAFFIC_LIMITS } from "../tests/support/traffic.ts";
import { BENCH_INBOUND_SECRET, sampleMail } from "./mail_box.ts";
import { PreciseCoverage, type RunFunction } from "./precise_coverage.ts";

const WARMING_ROUNDS = 2;
const COUNTED_ROUNDS = 4;
/** What is remembered for a moment, such as figures and the room on the disk, is old by then. */
const REST_MS = 2_200;
const QUIET_MS = 150;
/** The next hop has the mail a moment before the relay has its reply, and has stored what it means. */
const OUTCOME_MS = 200;
/** On a machine that is too busy to see it quiet: the counted rounds leave out ticks all the same. */
const LONGEST_UNREST_MS = 5_000;
const MANY = 1_000_000;
const LIMITS = {
  ...TRAFFIC_LIMITS,
  mailRecipientsPerOrgFirstDay: MANY,
  mailRecipientsNewOrgsPerDay: MANY,
};

/** A part of a way: what a caller does, up to what they wait for. */
interface Step {
  name: string;
  walk(): Promise<void>;
}

interface StepResult {
  step: string;
  files: number;
  functions: number;
  /** Names by file, by folder. */
  folders: Record<string, Record<string, string[]>>;
}

interface World {
  url: string;
  smtp: TestSmtpServer;
  owner: MailKeyHolder;
  dkimKey: ReturnType<typeof makeDkimKey>;
}

const WAYS: Record<string, (world: World) => Promise<Step[]>> = {
  async send({ url }) {
    const target = realTarget(url);
    const sender = await registerAgent(target, "sender");
    const recipient = await registerAgent(target, "recipient");
    return [
      {
        name: "POST /v1/messages",
        walk: async () =>
          void await sender.sent({ to: recipient.address, body: { text: "Hello." } }),
      },
      { name: "GET /v1/inbox", walk: async () => assertStatus(await recipient.poll(), 200) },
    ];
  },
  async inbound({ url, owner, dkimKey }) {
    const { address } = await owner.inbox({ local_part: "reader" });
    return [{
      name: "POST /v1/mail/inbound/raw",
      async walk() {
        const { raw } = sampleMail();
        const signed = await dkimSigned(
          new TextDecoder("latin1").decode(raw),
          "else.test",
          "s1",
          dkimKey,
        );
        const answer = await handIn(url, {
          to: [address],
          raw: new TextEncoder().encode(signed),
          timestamp: Math.floor(Date.now() / 1000),
          secret: BENCH_INBOUND_SECRET,
          envelope: { client_ip: "192.0.2.7", client_helo: "mx.else.test" },
        });
        const { rejected } = accepted(answer, 200);
        if (rejected.length > 0) throw new Error(JSON.stringify(rejected));
      },
    }];
  },
  async approval({ url, smtp, owner }) {
    const inbox = await owner.inbox({ local_part: "drafter", send_policy: "draft_only" });
    let link = { path: "", token: "" };
    let subject = "";
    return [
      {
        name: "POST /v1/mail/inboxes/{id}/drafts, and the mail that asks for an approval",
        async walk() {
          subject = `Letter ${crypto.randomUUID()}`;
          const draft = await newDraft(owner, inbox.id, { ...LETTER, subject });
          link = await linkIn(smtp, draft.id);
          await delay(OUTCOME_MS);
        },
      },
      {
        name: "GET /mail/drafts/{id}",
        walk: async () => void accepted(await openPage({ url }, link), 200),
      },
      {
        name: "POST /mail/drafts/{id}, and the delivery",
        async walk() {
          accepted(await decide({ url }, link, "approve"), 200);
          while ((await parseMail(smtp.received.at(-1)!)).subject !== subject) await delay(5);
          await delay(OUTCOME_MS);
        },
      },
    ];
  },
  async page({ url }) {
    const { handle } = await registerAgent(realTarget(url), "shown");
    const open = (path: string): Step => ({
      name: `GET ${path.replace(handle, "{handle}")}`,
      async walk() {
        const answer = await fetch(url + path, { headers: BROWSER });
        await answer.body?.cancel();
        if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      },
    });
    return [open("/network"), open(`/agents/${handle}`)];
  },
};

const { values: { json }, positionals } = parseArgs({
  args: Deno.args,
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !Object.hasOwn(WAYS, name));
if (unknown !== undefined) {
  console.error(`There is no way "${unknown}", but ${Object.keys(WAYS).join(", ")}.`);
  Deno.exit(2);
}
const results = await walkAll(positionals.length > 0 ? positionals : Object.keys(WAYS));
if (json) console.log(JSON.stringify(results, null, 1));
else console.log(textOf(results));

async function walkAll(names: readonly string[]): Promise<Record<string, StepResult[]>> {
  const dkimKey = makeDkimKey();
  await using smtp = await startSmtpServer();
  await using dns = startScriptedDns({
    "TXT else.test": { TXT: ["v=spf1 ip4:192.0.2.7 -all"] },
    "TXT _dmarc.else.test": { TXT: ["v=DMARC1; p=reject"] },
    "TXT s1._domainkey.else.test": { TXT: [dkimKey.record] },
  });
  const inspectorPort = freePort();
  await using relay = await spawnRelay({
    runtimeFlags: [`--inspect=127.0.0.1:${inspectorPort}`],
    env: {
      RELAY_SMTP_URL: smtp.url,
      RELAY_MAIL_FROM: "relay@example.org",
      RELAY_MAIL_DOMAIN: "agents.test",
      RELAY_MAIL_INBOUND_SECRET: `whsec_${BENCH_INBOUND_SECRET.toBase64()}`,
      RELAY_DNS_SERVERS: `${dns.server.host}:${dns.server.port}`,
      RELAY_LIMITS: JSON.stringify(LIMITS),
    },
  });
  const isOurs = (file: string) => /^(?:server|toolkit)\//.test(file);
  using coverage = await PreciseCoverage.open(inspectorPort, isOurs);
  const owner = await newClaimedOrg(relay, async () => (await smtp.next()).content.toString());
  const world = { url: relay.url, smtp, owner, dkimKey };
  const ways: Record<string, StepResult[]> = {};
  for (const name of names) ways[name] = await walkWay(await WAYS[name]!(world), coverage);
  return ways;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function walkWay(steps: readonly Step[], coverage: PreciseCoverage): Promise<StepResult[]> {
  const ran = steps.map((): Map<string, RunFunction>[] => []);
  for (let round = 0; round < WARMING_ROUNDS + COUNTED_ROUNDS; round++) {
    for (const [i, step] of steps.entries()) {
      await untilQuiet(coverage);
      await step.walk();
      const functions = await coverage.take();
      if (round < WARMING_ROUNDS) continue;
      ran[i]!.push(new Map(functions.map((one) => [`${one.file}:${one.offset}`, one])));
    }
  }
  const always = ran.map(([first, ...others]) =>
    new Map([...first!].filter(([place]) => others.every((one) => one.has(place))))
  );
  const results = steps.map(({ name }, i) => resultOf(name, always[i]!));
  if (steps.length === 1) return results;
  return [...results, resultOf("the whole way", new Map(always.flatMap((one) => [...one])))];
}

/** Until the relay has rested, and nothing of it has run for a while. */
async function untilQuiet(coverage: PreciseCoverage): Promise<void> {
  await delay(REST_MS + Math.random() * 1_000); // not always as long after a tick
  const latest = Date.now() + LONGEST_UNREST_MS;
  do await delay(QUIET_MS); while ((await coverage.take()).length > 0 && Date.now() < latest);
}

function resultOf(step: string, functions: Map<string, RunFunction>): StepResult {
  const byFile = Map.groupBy(functions.values(), ({ file }) => file);
  const folders: StepResult["folders"] = {};
  for (const [file, own] of [...byFile].sort(([a], [b]) => a < b ? -1 : 1)) {
    const end = file.lastIndexOf("/");
    const names = own.sort((a, b) => a.offset - b.offset).map(({ name }) => name);
    (folders[file.slice(0, end + 1)] ??= {})[file.slice(end + 1)] = names;
  }
  return { step, files: byFile.size, functions: functions.size, folders };
}

function textOf(ways: Record<string, StepResult[]>): string {
  const lines: string[] = [];
  for (const [way, steps] of Object.entries(ways)) {
    lines.push(`# ${way}`, "");
    for (const { step, files, functions } of steps) {
      lines.push(`${step}: ${files} files, ${functions} functions`);
    }
    for (const { step, folders } of steps.filter(({ step }) => step !== "the whole way")) {
      lines.push("", `## ${step}`);
      for (const [folder, files] of Object.entries(folders)) {
        lines.push("", folder);
        for (const [file, names] of Object.entries(files)) {
          lines.push(`  ${file}: ${namesText(names)}`);
        }
      }
    }
    lines.push("");
  }
  return lines.join("\n").trimEnd();
}

function namesText(names: readonly string[]): string {
  const unnamed = names.filter((name) => name === "").length;
  const named = names.filter((name) => name !== "");
  return [...named, ...(unnamed > 0 ? [`${unnamed} without a name`] : [])].join(", ");
}
