/** The shared mode on a real KV server: runs where denokv is on PATH or DENOKV_BIN names it. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { MailLedger } from "../faults/mail_ledger.ts";
import type { FuzzRoute } from "../fuzz/fuzz_routes.ts";
import { encodeBase64Key, newKey } from "../support/custody_key.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { startScriptedDns } from "../support/dns_server.ts";
import { decide, LETTER, linkIn, sentMessages } from "../support/draft_world.ts";
import { accepted, type MailKeyHolder } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../support/smtp_server.ts";
import { newClaimedOrg } from "../support/spawned_org.ts";
import { nameOf, routesToStore, storeRequests } from "../support/store_requests.ts";
import { findKvServer, type KvServer, startKvServer } from "../support/kv_server.ts";
import { delay } from "../support/pace.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, type Target, toBytes } from "../support/test_agent.ts";
import { realTarget, runTraffic, TRAFFIC_LIMITS } from "../support/traffic.ts";
import { startReceiver, verify } from "../support/webhook_world.ts";

const program = findKvServer();
const ADMIN_TOKEN = "kv-server-".repeat(8);
const SECRET = new Uint8Array(32).fill(9);
const MANY = 1_000_000;
const MAIL_LIMITS = {
  ...TRAFFIC_LIMITS,
  mailSendsPerInboxPerHour: MANY,
  mailRecipientsPerOrgPerDay: MANY,
  mailRecipientsPerOrgFirstDay: MANY,
  mailRecipientsNewOrgsPerDay: MANY,
  mailInboundPerInboxPerHour: MANY,
  mailInboundPerClientPerHour: MANY,
};

interface Rig {
  server: KvServer;
  relays: SpawnedRelay[];
  targets: Target[];
}

function kvServerTest(name: string, size: number, body: (rig: Rig) => Promise<void>): void {
  Deno.test({
    name: `${name} (needs denokv)`,
    ignore: program === null,
    fn: () => withRelays(size, { RELAY_LIMITS: JSON.stringify(TRAFFIC_LIMITS) }, body),
  });
}

async function withRelays(
  size: number,
  env: Record<string, string>,
  body: (rig: Rig) => Promise<void>,
): Promise<void> {
  await using server = await startKvServer(program!);
  await using opened = new AsyncDisposableStack();
  const relays: SpawnedRelay[] = [];
  for (let i = 0; i < size; i++) {
    relays.push(opened.use(await spawnRelay({ env: { ...server.env, ...env } })));
  }
  await body({ server, relays, targets: relays.map(({ url }) => realTarget(url)) });
}

interface MailRig extends Rig {
  smtp: TestSmtpServer;
  owner: MailKeyHolder;
  mail: MailLedger;
}

/** Three relays with mail, an SMTP server, and an org that may send. */
function mailTest(name: string, body: (rig: MailRig) => Promise<void>): void {
  Deno.test({
    name: `${name} (needs denokv)`,
    ignore: program === null,
    fn: async () => {
      await using smtp = await startSmtpServer();
      await using dns = startScriptedDns();
      const env = {
        RELAY_ADMIN_TOKEN: ADMIN_TOKEN,
        RELAY_CUSTODY_KEY: encodeBase64Key(newKey()),
        RELAY_SMTP_URL: smtp.url,
        RELAY_MAIL_FROM: "relay@example.org",
        RELAY_MAIL_DOMAIN: "agents.test",
        RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
        RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true",
        RELAY_DNS_SERVERS: `${dns.server.host}:${dns.server.port}`,
        RELAY_LIMITS: JSON.stringify(MAIL_LIMITS),
      };
      await withRelays(3, env, async (rig) => {
        const taken = async () => (await smtp.next()).content.toString();
        const owner = await newClaimedOrg(rig.relays[0]!, taken);
        const inbox = await owner.inbox();
        const mail = new MailLedger({ inbox, smtp, secret: SECRET });
        await body({ ...rig, smtp, owner, mail });
      });
    },
  });
}

kvServerTest("three processes on a KV server lose and double nothing, in order", 3, async (rig) => {
  await runTraffic(rig.targets, {
    seed: 30,
    agents: 8,
    sendsAnAgent: 40,
    width: 4,
    toAllPercent: 20,
  });
});

kvServerTest("one hot mailbox on a KV server loses and doubles nothing", 2, async (rig) => {
  await runTraffic(rig.targets, {
    seed: 31,
    agents: 6,
    sendsAnAgent: 25,
    width: 2,
    recipients: 1,
  });
});

kvServerTest(
  "a waiting poll is woken by another process through the server's watch",
  2,
  async (rig) => {
    const [a, b] = rig.targets as [Target, Target];
    const alice = await registerAgent(a, "alice");
    const bob = await registerAgent(b, "bob");
    for (let round = 0; round < 3; round++) {
      const waiting = bob.poll("wait=25&unread=true");
      await delay(400);
      const beganMs = performance.now();
      const id = await alice.sent({ to: "bob", body: { round } });
      const answer = await waiting;
      assertStatus(answer, 200);
      assert.deepEqual(answer.json.messages.map((message: { id: number }) => message.id), [id]);
      assert.ok(performance.now() - beganMs < 1_500);
    }
  },
);

kvServerTest("one signed request at all processes at once is one message", 3, async (rig) => {
  const alice = await registerAgent(rig.targets[0]!, "alice");
  await registerAgent(rig.targets[1]!, "bob");
  for (let round = 0; round < 5; round++) {
    const body = toBytes({ to: "bob", body: `round ${round}` });
    const timestamp = rig.targets[0]!.clock.seconds();
    const answers = await Promise.all(
      rig.targets.map((target) =>
        alice.at(target).call("POST", "/v1/messages", { body, timestamp })
      ),
    );
    for (const answer of answers) assertStatus(answer, 201);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  }
});

kvServerTest(
  "a KV server that dies is survived: 503 meanwhile, everything after",
  2,
  async (rig) => {
    const [a, b] = rig.targets as [Target, Target];
    const alice = await registerAgent(a, "alice");
    const bob = await registerAgent(b, "bob");
    const before = await alice.sent({ to: "bob", body: "before" });
    const waiting = bob.poll(`wait=25&since_id=${before}`);
    await delay(300);
    await rig.server.kill();
    const body = toBytes({ to: "bob", body: "while it is gone" });
    const timestamp = a.clock.seconds();
    const send = () => alice.call("POST", "/v1/messages", { body, timestamp });
    const meanwhile = send();
    await delay(500);
    await rig.server.start();
    const first = await meanwhile;
    if (first.status !== 201) assertRefused(first, "unavailable");
    let answer = await send();
    for (let tries = 0; answer.status === 503 && tries < 30; tries++) {
      await delay(300);
      answer = await send();
    }
    assertStatus(answer, 201);
    const woken = await waiting;
    assertStatus(woken, 200);
    assert.deepEqual(
      woken.json.messages.map((message: { id: number }) => message.id),
      [answer.json.id],
    );
  },
);

type Act = (server: KvServer) => void | Promise<void>;

/** How it goes, and comes back. */
const AWAY: Readonly<Record<string, { leave: Act; back: Act }>> = {
  "suspended": { // its connections hang
    leave: (server) => server.suspend(),
    back: (server) => server.resume(),
  },
  "killed": { leave: (server) => server.kill(), back: (server) => server.start() },
};
const AWAY_MS = 20_000;
/** As docs/operations.md says, and some for a busy machine. */
const PROMISED_MS = 15_000 + 1_000;
const SENDERS = 4;

mailTest("a KV server that is away for 20 s loses and doubles nothing", async (rig) => {
  const { server, targets, smtp, owner, mail } = rig;
  const client = new PatientClient();
  const requestOf = await storeRequests(targets[2]!, owner.at(targets[2]!), ADMIN_TOKEN);
  const messages = await startMessages(targets, client);
  const inbox = await owner.inbox({ send_policy: "draft_only" });
  const propose = async (subject: string) => {
    const body = { ...LETTER, subject, client_id: subject };
    return await owner.at(targets[1]!).ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, { body });
  };
  let isOver = false;
  const mails = (async () => {
    for (let n = 0; !isOver; n++) {
      const target = targets[n % 2]!;
      await client.timed(() => mail.send(owner.at(target)));
      await client.timed(() => mail.handIn(target.url, target.clock.seconds()));
      await delay(1_000);
    }
  })();

  for (const [how, { leave, back }] of Object.entries(AWAY)) {
    const { id } = accepted(await propose(`approved-${how}`), 201);
    const link = await linkIn(smtp, id);
    await leave(server);
    const goneMs = performance.now();
    const approved = targets.map((target) =>
      client.untilTaken(() => decide(target, link, "approve"))
    );
    const proposed = client.untilTaken(() => propose(`proposed-${how}`));
    const { refused, wrong } = await askAll(requestOf, client);
    assert.deepEqual(wrong, [], how);
    assert.ok(refused >= 55, `${how}: ${refused} routes answered 503`);
    await delay(Math.max(0, AWAY_MS - (performance.now() - goneMs)));
    await back(server);
    await delay(1_000);
    await messages.wake();
    for (const { status } of await Promise.all(approved)) assert.ok([200, 410].includes(status));
    assert.ok([200, 201].includes((await proposed).status));
  }
  isOver = true;
  await Promise.all([messages.end(), mails]);
  const longestMs = Math.max(...client.tookMs);
  assert.ok(longestMs <= PROMISED_MS, `answered after ${longestMs} ms`);
  assert.ok(client.refusals >= SENDERS, `${client.refusals} were refused`);

  await messages.check();
  for (let tries = 0; await mail.repeatAll(owner, targets[0]!.clock.seconds()) > 0; tries++) {
    assert.ok(tries < 20, "mail stays without an answer");
  }
  for (let tries = 0; await mail.waiting(owner) > 0; tries++) {
    assert.ok(tries < 300, "mail waits for ever");
    await delay(100);
  }
  await mail.check(owner);
  const each = (what: string) => Object.keys(AWAY).map((how) => `${what}-${how}`).sort();
  const sent = await sentMessages(owner, inbox.id);
  assert.deepEqual(sent.map(({ subject }) => subject).sort(), each("approved"));
  const open = await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/drafts`);
  const subjects = accepted(open, 200).data.map(({ subject }: { subject: string }) => subject);
  assert.deepEqual(subjects.sort(), each("proposed"));
  const arrived = await Promise.all(smtp.received.map(parseMail));
  for (const subject of [...each("approved"), "mail 0"]) {
    assert.equal(arrived.filter((one) => one.subject === subject).length, 1, subject);
  }
});

mailTest(
  "deliveries of three relays outlive a KV server that is away, each logged once",
  async (rig) => {
    const { server, targets, owner } = rig;
    await using receiver = startReceiver({ now: Date.now });
    const inbox = await owner.inbox();
    const client = new PatientClient();
    const hooks = await Promise.all(["a", "b", "c"].map(async (name) => {
      const body = { url: `${receiver.url}/${name}`, events: ["message.received"] };
      return accepted(await owner.ask("POST", "/v1/mail/webhooks", { body }), 201);
    }));
    const mails = 30;
    const subjects = Array.from({ length: mails }, (_, n) => `mail ${n}`);
    /** The first ones go out before, the next meanwhile, and the rest afterwards. */
    const receive = (some: readonly string[]) =>
      Promise.all(some.map((subject, n) => {
        const { url, clock } = targets[n % 2]!;
        const raw = mailText({ headers: { Subject: subject } });
        const id = subject.replace(" ", "_");
        const mail = { to: [inbox.address], raw, secret: SECRET, id };
        return client.untilTaken(() => handIn(url, { ...mail, timestamp: clock.seconds() }));
      }));
    receiver.answer = async () => {
      await delay(20);
      return new Response();
    };
    for (const [from, { leave, back }] of [[0, AWAY.suspended!], [10, AWAY.killed!]] as const) {
      await receive(subjects.slice(from, from + 5));
      await leave(server);
      const meanwhile = receive(subjects.slice(from + 5, from + 10));
      await delay(3_000);
      await back(server);
      for (const { status } of await meanwhile) assert.equal(status, 200);
    }
    await receive(subjects.slice(20));

    for (const { id, url, secret } of hooks) {
      const logOf = async () => {
        const path = `/v1/mail/webhooks/${id}/deliveries?limit=100`;
        return accepted(await client.untilTaken(() => owner.ask("GET", path)), 200).data;
      };
      let log = await logOf();
      for (let tries = 0; log.length < mails; tries++, log = await logOf()) {
        assert.ok(tries < 300, `${log.length} are logged`);
        await delay(100);
      }
      const taken = receiver.taken.filter(({ path }) => path === new URL(url).pathname);
      for (const one of taken) verify(one, secret);
      const told = new Set(taken.map(({ body }) => body.data.message.subject));
      assert.deepEqual([...told].sort(), [...subjects].sort());
      const events = new Set(taken.map(({ body }) => body.id));
      assert.deepEqual(
        log.map(({ event_id }: { event_id: string }) => event_id).sort(),
        [
          ...events,
        ].sort(),
      );
      assert.equal(events.size, mails);
    }
  },
);

/** Asks again what is refused for the store's sake, and knows how long each answer took. */
class PatientClient {
  readonly tookMs: number[] = [];
  refusals = 0;

  async timed<T>(call: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    const answer = await call();
    this.tookMs.push(performance.now() - beganMs);
    return answer;
  }

  async untilTaken<T extends Pick<Response, "status" | "headers">>(
    call: () => Promise<T>,
  ): Promise<T> {
    for (let tries = 0; tries < 100; tries++) {
      const answer = await this.timed(call);
      if (answer.status !== 503) return answer;
      assert.ok(answer.headers.get("retry-after") !== null);
      this.refusals++;
      await delay(500);
    }
    throw new Error("it is refused for ever");
  }
}

/** Some agents send to one, at two relays, until they are told to end. */
async function startMessages(targets: readonly Target[], client: PatientClient) {
  const senders = await Promise.all(
    Array.from({ length: SENDERS }, (_, i) => registerAgent(targets[i % 2]!, `sender_${i}`)),
  );
  const reader = await registerAgent(targets[1]!, "reader");
  const acknowledged = new Map<number, string>();
  let waiters = 0;
  let isOver = false;
  /** What waited for the store comes before, so that it may take a few seconds. */
  const newWaiter = async (number: number) => {
    for (let tries = 0;; tries++) {
      try {
        return await registerAgent(targets[0]!, `waiter_${number}`);
      } catch (error) {
        if (tries === 10) throw error;
        await delay(500);
      }
    }
  };
  const traffic = senders.map(async (sender, who) => {
    for (let n = 0; !isOver; n++) {
      const text = `${who}/${n}`;
      const timestamp = targets[0]!.clock.seconds();
      const options = { body: toBytes({ to: "reader", body: text }), timestamp };
      const answer = await client.untilTaken(() => sender.call("POST", "/v1/messages", options));
      assertStatus(answer, 201);
      acknowledged.set(answer.json.id, text);
      await delay(100);
    }
  });
  return {
    /** Asserts that a poll at one relay is woken by a message that another takes. */
    async wake() {
      const [sender, waiter] = [senders[1]!, await newWaiter(++waiters)];
      const waiting = waiter.poll("wait=25");
      await delay(400);
      const body = toBytes({ to: waiter.handle, body: "wake" });
      const timestamp = targets[0]!.clock.seconds();
      const sent = await client.untilTaken(() =>
        sender.call("POST", "/v1/messages", { body, timestamp })
      );
      const beganMs = performance.now();
      const woken = await waiting;
      assertStatus(woken, 200);
      assert.deepEqual(woken.json.messages.map(({ id }: { id: number }) => id), [sent.json.id]);
      assert.ok(performance.now() - beganMs < 2_000, "the watch is deaf");
    },
    async end() {
      isOver = true;
      await Promise.all(traffic);
    },
    async check() {
      const found: [number, string][] = [];
      for (let since = 0;;) {
        const messages = await reader.inbox(`since_id=${since}&limit=100`);
        if (messages.length === 0) break;
        for (const { id, body } of messages) found.push([id, body]);
        since = messages.at(-1).id;
      }
      assert.deepEqual(found, [...acknowledged].sort(([a], [b]) => a - b));
    },
  };
}

/** Asks all routes at the same time, and again while the store is known to be silent. */
async function askAll(
  requestOf: (route: FuzzRoute) => Request,
  client: PatientClient,
): Promise<{ refused: number; wrong: string[] }> {
  await using relay = await startMailRelay();
  const routes = routesToStore(relay.relay.app.routes);
  const refused = new Set<string>();
  const wrong: string[] = [];
  for (let round = 0; round < 2; round++) {
    await Promise.all(routes.map((route) =>
      client.timed(async () => {
        const answer = await fetch(requestOf(route));
        const text = await answer.text();
        if (answer.status === 500) wrong.push(`${nameOf(route)}: ${text.slice(0, 120)}`);
        else if (answer.status === 503 && answer.headers.has("retry-after")) {
          refused.add(nameOf(route));
        }
      })
    ));
  }
  return { refused: refused.size, wrong };
}

kvServerTest(
  "a KV server that refuses the token of a relay answers 503 by it, and all is well once it takes it again",
  1,
  async ({ server, targets }) => {
    const alice = await registerAgent(targets[0]!, "alice");
    const bob = await registerAgent(targets[0]!, "bob");
    await server.kill();
    await server.start("another-token-of-tests");
    const body = toBytes({ to: "bob", body: "to a server that refuses" });
    const timestamp = targets[0]!.clock.seconds();
    const client = new PatientClient();
    assertRefused(await client.timed(() => alice.call("GET", "/v1/whoami")), "unavailable");
    const send = () => alice.call("POST", "/v1/messages", { body, timestamp });
    assertRefused(await client.timed(send), "unavailable");
    assert.ok(Math.max(...client.tookMs) <= PROMISED_MS);
    await server.kill();
    await server.start();
    const answer = await client.untilTaken(send);
    assertStatus(answer, 201);
    const [message] = await bob.inbox();
    assert.equal(message.id, answer.json.id);
  },
);
