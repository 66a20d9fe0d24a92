import assert from "node:assert/strict";
import { createTestClock } from "../../support/clock.ts";
import { delay } from "../../support/pace.ts";
import { startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";
import { type SpawnedRelay, spawnRelay } from "../../support/spawn_relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { headlineOf, setEmail } from "./digest_bench.ts";

/** The relay as a process whose digest cron a signal runs. */
const CRON_BY_SIGNAL = "../messaging/digest/cron_by_signal.ts";

interface Folder extends AsyncDisposable {
  path: string;
}

async function makeFolder(): Promise<Folder> {
  const path = await Deno.makeTempDir({ prefix: "relay-digest-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

function start(
  folder: Folder,
  smtpPort: number,
  options: { shared?: boolean; bySignal?: boolean } = {},
): Promise<SpawnedRelay> {
  return spawnRelay({
    env: {
      RELAY_DATA_DIR: folder.path,
      RELAY_SHARED_STORE: String(options.shared ?? false),
      RELAY_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
      RELAY_MAIL_FROM: "relay@example.org",
      RELAY_LIMITS: JSON.stringify({ registrationsPerIpPerHour: 1_000 }),
    },
    ...(options.bySignal === false ? {} : { entry: CRON_BY_SIGNAL }),
  });
}

/** Agents with an address each and an undelivered message from the first of them. */
async function makeDue(relay: SpawnedRelay, handles: readonly string[]): Promise<TestAgent[]> {
  const target = { url: relay.url, clock: createTestClock(Date.now()) };
  const agents: TestAgent[] = [];
  for (const handle of handles) {
    const agent = await registerAgent(target, handle);
    await setEmail(agent, `${handle}@example.net`);
    agents.push(agent);
  }
  // A later millisecond than any address was set in.
  await delay(2);
  for (const to of handles) await agents[0]!.sent({ to, body: "hello" });
  return agents;
}

/** Runs the digest cron for the n-th time in a process. */
function sweep(relay: SpawnedRelay, n = 1): Promise<void> {
  Deno.kill(relay.pid, "SIGUSR1");
  return relay.wrote(new RegExp(`digest cron ${n} has run`));
}

Deno.test("the crons of two processes on one store send each digest once", async () => {
  await using folder = await makeFolder();
  await using smtp = await startSmtpServer();
  await using one = await start(folder, smtp.port, { shared: true });
  await using other = await start(folder, smtp.port, { shared: true });
  const handles = Array.from({ length: 12 }, (_, i) => `reader_${i}`);
  await makeDue(one, handles);
  await Promise.all([sweep(one), sweep(other)]);
  while (smtp.received.length < handles.length) await smtp.next();
  await Promise.all([sweep(one, 2), sweep(other, 2)]);
  const told = smtp.received.map(({ to }) => to[0]).sort();
  assert.deepEqual(told, handles.map((handle) => `${handle}@example.net`).sort());
  assert.doesNotMatch(one.output().stderr + other.output().stderr, /failed|@example/);
});

Deno.test("a relay killed between the commit and SMTP sends the digest when it starts again, once", async () => {
  await using folder = await makeFolder();
  await using smtp = startScriptedSmtp();
  smtp.script({ greeting: "silence" });
  const relay = await start(folder, smtp.port);
  await makeDue(relay, ["bob"]);
  const reached = smtp.reached("greeting");
  Deno.kill(relay.pid, "SIGUSR1");
  await reached; // the digest is committed, and nothing of it has left
  await relay.kill("SIGKILL");
  assert.deepEqual(smtp.contents, []);

  smtp.script({});
  const arrived = smtp.reached("content");
  await using again = await start(folder, smtp.port, { bySignal: false });
  await arrived;
  await again.terminate();
  assert.equal(smtp.contents.length, 1);
  assert.match(smtp.contents[0]!, /1 unread message for @bob/);
  // Neither the row nor the message makes another one.
  await using third = await start(folder, smtp.port);
  await sweep(third);
  assert.equal(smtp.contents.length, 1);
});

Deno.test("a relay killed while the next hop had the content does not send it again, and says so", async () => {
  await using folder = await makeFolder();
  await using smtp = startScriptedSmtp();
  smtp.script({ content: "silence" });
  const relay = await start(folder, smtp.port);
  await makeDue(relay, ["bob"]);
  const reached = smtp.reached("content");
  Deno.kill(relay.pid, "SIGUSR1");
  await reached;
  await relay.kill("SIGKILL");
  assert.equal(smtp.contents.length, 1);

  smtp.script({});
  const again = await start(folder, smtp.port);
  await again.wrote(/outgoing_given_up.*unknown/);
  await sweep(again);
  await again.terminate();
  assert.equal(smtp.contents.length, 1);
  await using third = await start(folder, smtp.port);
  assert.match(third.output().stdout, /outgoing +1 given up in the last 30 days.*unknown/);
});

Deno.test("a relay stopped by SIGTERM gives up what is not handed over and sends it when it starts again", async () => {
  await using folder = await makeFolder();
  await using smtp = startScriptedSmtp();
  smtp.script({ RCPT: "silence" });
  await using relay = await start(folder, smtp.port);
  await makeDue(relay, ["bob"]);
  const reached = smtp.reached("RCPT");
  Deno.kill(relay.pid, "SIGUSR1");
  await reached;
  assert.equal((await relay.terminate()).code, 0);

  smtp.script({});
  const arrived = smtp.reached("content");
  await using again = await start(folder, smtp.port);
  await arrived;
  await again.terminate();
  assert.equal(smtp.contents.length, 1);
});

Deno.test("without outbound configuration there are no digests, and start-up says so", async () => {
  await using folder = await makeFolder();
  await using relay = await spawnRelay({
    env: { RELAY_DATA_DIR: folder.path },
    entry: CRON_BY_SIGNAL,
  });
  assert.match(
    relay.output().stdout,
    /digests +off: RELAY_SMTP_URL, RELAY_MAIL_FROM are unset/,
  );
  await makeDue(relay, ["bob"]);
  await sweep(relay);
  await relay.terminate();
  // Configured later, it names what waits.
  await using smtp = await startSmtpServer();
  await using configured = await start(folder, smtp.port);
  assert.match(configured.output().stdout, /digests +(?!off)/);
  await sweep(configured);
  assert.equal(headlineOf(await parseMail(smtp.received[0]!)), "1 unread message for @bob");
});
