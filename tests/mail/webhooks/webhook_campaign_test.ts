/**
 * Deliveries to receivers of every kind, by relays that are killed one after another on one data folder,
 * under a clock that is moved through the schedule: none is lost, none comes too early, and nothing of what
 * was deleted comes at all. With --long 10,000 deliveries, and the whole schedule.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { attemptKey, type AttemptRow } from "../../../server/mail/records/webhook_record.ts";
import { outgoingKey, type OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import { HOUR_MS, MINUTE_MS } from "../../../server/base/time/time_units.ts";
import { seededRandom } from "../../support/fake_kv.ts";
import {
  ASKED_MS,
  type Behaviour,
  BEHAVIOURS,
  type HostileReceivers,
  startHostileReceivers,
  takenAt,
} from "../../support/hostile_receivers.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { MovedClock, removeSharedMemory } from "../../support/moved_clock.ts";
import { delay } from "../../support/pace.ts";
import { partOrSkip } from "../../support/part.ts";
import { openKvFile } from "../../support/read_through.ts";
import { type SpawnedRelay, spawnRelay } from "../../support/spawn_relay.ts";
import { verify } from "../../support/webhook_world.ts";

/** As docs/mail.md has it, after each attempt but the last. */
const ALL_WAITS_MS = [
  ...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
const WAITS_MS = isLong ? ALL_WAITS_MS : ALL_WAITS_MS.slice(0, 3);
/** How much longer than written. */
const JITTER = 0.1;
/** Each of ten webhooks. */
const ORGS = isLong ? 5 : 2;
const MAILS = isLong ? 200 : 5;
const DAY_MS = 24 * HOUR_MS;
const SECRET = new Uint8Array(32).fill(9);
const PLENTY = 1_000_000;
const LOOK_MS = isLong ? 500 : 50;
const PATIENCE_MS = isLong ? 600_000 : 60_000;

interface Hook {
  id: string;
  path: string;
  behaviour: Behaviour;
  secret: string;
}

interface Org {
  key: string;
  orgId: string;
  inbox: { id: string; address: string };
  hooks: Hook[];
  /** Ids of messages that the relay has, by subject. */
  messages: Map<string, string>;
}

class Campaign implements AsyncDisposable {
  relay!: SpawnedRelay;
  readonly orgs: Org[] = [];
  readonly killsMs: number[] = [];
  /** Every attempt that the logs had when they were looked at. */
  readonly logged = new Map<string, AttemptRow & { webhookId: string }>();
  /** What was deleted while nothing was under way, and how many requests had come until then. */
  readonly deleted: { what: string; isOf: (path: string, body: Body) => boolean; from: number }[] =
    [];
  #dataDir!: string;

  private constructor(readonly clock: MovedClock, readonly receivers: HostileReceivers) {}

  static async start(faketime: string): Promise<Campaign> {
    const clock = await MovedClock.make(faketime);
    const campaign = new Campaign(clock, await startHostileReceivers(clock.now));
    campaign.#dataDir = await Deno.makeTempDir({ prefix: "webhook-campaign-" });
    await campaign.startRelay();
    return campaign;
  }

  async startRelay(): Promise<void> {
    this.relay = await spawnRelay({
      entry: "./relay_of_short_answers.ts",
      env: {
        ...this.clock.env,
        // It is moved while no relay runs: to read it anew each time is most of what a delivery takes.
        FAKETIME_NO_CACHE: "0",
        RELAY_DATA_DIR: this.#dataDir,
        RELAY_MAIL_DEV: "true",
        RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
        RELAY_LIMITS: JSON.stringify({
          mailRegistrationsPerIpPerHour: PLENTY,
          mailTrialHours: 24 * 365,
          mailInboundPerTrialInboxPerHour: PLENTY,
          mailInboundPerClientPerHour: PLENTY,
        }),
      },
    });
  }

  async kill(): Promise<void> {
    await this.relay.kill("SIGKILL");
    this.killsMs.push(this.clock.now()); // until then it may have signed one more
    await removeSharedMemory(this.relay.pid);
  }

  /** Ends the relay as a power cut does; the next one lives by a clock so much later. */
  async restart(laterMs = 0): Promise<void> {
    await this.kill();
    this.clock.moveTo(this.clock.aheadMs + laterMs);
    await this.startRelay();
  }

  holder({ key, orgId }: Org): MailKeyHolder {
    return new MailKeyHolder(this.relay.url, key, orgId);
  }

  async newOrg(number: number): Promise<void> {
    const { url } = this.relay;
    const body = signRegistration(this.clock.now());
    const { api_key: key, org_id: orgId } = accepted(
      await askMail(url, "POST", "/v1/mail/agents/register", { body }),
      201,
    );
    const owner = new MailKeyHolder(url, key, orgId);
    const inbox = await owner.inbox({ local_part: `org_${number}` });
    const hooks: Hook[] = [];
    for (const [i, behaviour] of BEHAVIOURS.entries()) {
      const url = this.receivers.urlOf(number * BEHAVIOURS.length + i, behaviour);
      const body = { url, events: ["message.received"] };
      const { id, secret } = accepted(await owner.ask("POST", "/v1/mail/webhooks", { body }), 201);
      hooks.push({ id, path: new URL(url).pathname, behaviour, secret });
    }
    this.orgs.push({ key, orgId, inbox, hooks, messages: new Map() });
  }

  /** Hands in until it is taken, as senders do. */
  async handIn({ inbox }: Org, subject: string): Promise<void> {
    const raw = mailText({ headers: { Subject: subject, "Message-ID": `<${subject}@else.test>` } });
    for (;;) {
      const timestamp = this.clock.seconds();
      const id = `${inbox.id}_${subject}`;
      const mail = { to: [inbox.address], raw, timestamp, secret: SECRET, id };
      const answer = await handIn(this.relay.url, mail).catch(() => null);
      if (answer?.status === 200) return;
      await delay(20);
    }
  }

  async readMessages(org: Org): Promise<void> {
    for (let cursor = "";;) {
      const path = `/v1/mail/inboxes/${org.inbox.id}/messages?limit=100${cursor}`;
      const { data, next_cursor } = accepted(await this.holder(org).ask("GET", path), 200);
      for (const { subject, id } of data) org.messages.set(subject, id);
      if (next_cursor === null) return;
      cursor = `&cursor=${next_cursor}`;
    }
  }

  /** Nothing is due or under way; what the logs say meanwhile is kept. */
  async quiet(): Promise<void> {
    using kv = await openKvFile(join(this.#dataDir, "relay.kv"));
    const endMs = performance.now() + PATIENCE_MS;
    for (let restOf = 0; restOf < 2;) {
      assert.ok(performance.now() < endMs, "it does not come to rest");
      await delay(LOOK_MS);
      await this.#readLogs(kv);
      const rows = await Array.fromAsync(kv.list<OutgoingRow>({ prefix: outgoingKey.under() }));
      const isBusy = rows.some(({ value }) =>
        value.lease !== null || value.dueMs <= this.clock.now()
      );
      restOf = isBusy ? 0 : restOf + 1;
    }
  }

  /** @returns how many deliveries wait */
  async waiting(): Promise<number> {
    using kv = await openKvFile(join(this.#dataDir, "relay.kv"));
    return (await Array.fromAsync(kv.list({ prefix: outgoingKey.under() }))).length;
  }

  async #readLogs(kv: Deno.Kv): Promise<void> {
    for await (const { key, value } of kv.list<AttemptRow>({ prefix: attemptKey.under() })) {
      this.logged.set(value.id, { ...value, webhookId: key[2] as string });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.kill("SIGKILL");
    await removeSharedMemory(this.relay.pid);
    await this.receivers[Symbol.asyncDispose]();
    await this.clock[Symbol.asyncDispose]();
    await Deno.remove(this.#dataDir, { recursive: true });
  }
}

// deno-lint-ignore no-explicit-any -- as receivers read it
type Body = any;

/** Deletes some of everything, while nothing is under way. */
async function deleteSome(campaign: Campaign): Promise<void> {
  const { orgs, deleted, receivers: { taken } } = campaign;
  const [first, last] = [orgs[0]!, orgs.at(-1)!];
  const subjects = [...first.messages.keys()].filter((_, i) => i % 4 === 0);
  const gone = new Set(subjects.map((subject) => first.messages.get(subject)!));
  const owner = campaign.holder(first);
  for (const id of gone) accepted(await owner.ask("DELETE", `/v1/mail/messages/${id}`), 204);
  const hook = first.hooks.find(({ behaviour }) => behaviour === "hangs")!;
  accepted(await owner.ask("DELETE", `/v1/mail/webhooks/${hook.id}`), 204);
  accepted(await campaign.holder(last).deleteOrg(), 204);
  const from = taken.length;
  const isOf = (_: string, { data }: Body) => gone.has(data.message.id);
  deleted.push({ what: "a message", isOf, from });
  deleted.push({ what: "a webhook", isOf: (path) => path === hook.path, from });
  deleted.push({ what: "an org", isOf: (_, { org_id }) => org_id === last.orgId, from });
}

const isDeleted = ({ deleted }: Campaign, path: string, body: Body) =>
  deleted.some(({ isOf }) => isOf(path, body));

/** Requests of an event at a path, in their order. */
function requestsOf({ receivers: { taken } }: Campaign): Map<string, HostileReceivers["taken"]> {
  const all = new Map<string, HostileReceivers["taken"]>();
  for (const one of taken) {
    const name = `${one.path} ${one.body.data.message.id}`;
    all.set(name, [...all.get(name) ?? [], one]);
  }
  return all;
}

/** @returns requests beyond those of the schedule */
function checkTaken(campaign: Campaign): number {
  const { orgs, receivers: { taken }, killsMs, deleted } = campaign;
  for (const { what, isOf, from } of deleted) {
    const late = taken.slice(from).filter(({ path, body }) => isOf(path, body));
    assert.equal(late.length, 0, `${late.length} deliveries came for ${what} that was deleted`);
  }
  assert.ok(taken.every(({ path }) => !path.endsWith("/trap")), "a redirect was followed");
  const requests = requestsOf(campaign);
  const bytes = new Map<string, string>();
  let again = 0;
  for (const { hooks, messages } of orgs) {
    for (const { path, behaviour, secret } of hooks) {
      let came = 0;
      for (const [subject, id] of messages) {
        const expected = Math.min(takenAt(behaviour, subject), WAITS_MS.length + 1);
        const of = requests.get(`${path} ${id}`) ?? [];
        came += of.length;
        if (of.length === 0 && behaviour !== "gone") assert.fail(`${subject} is lost at ${path}`);
        for (const one of of) {
          verify(one, secret);
          const eventId = one.headers["webhook-id"]!;
          assert.equal(one.text, bytes.get(eventId) ?? one.text);
          bytes.set(eventId, one.text);
        }
        const ids = new Set(of.map(({ headers }) => headers["webhook-id"]));
        assert.ok(ids.size <= 1, `${subject} is ${ids.size} events`);
        again += checkTimes(of, { behaviour, subject }, killsMs);
        if (behaviour === "gone" || isDeleted(campaign, path, of[0]!.body)) continue;
        assert.ok(of.length >= expected, `${subject} came ${of.length} times to ${path}`);
      }
      assert.ok(came > 0, path);
    }
  }
  return again;
}

/**
 * Asserts that no request was made before its time, unless a relay died in between; by the second that it
 * was signed at, since a busy receiver reads late.
 */
function checkTimes(
  requests: HostileReceivers["taken"],
  { behaviour, subject }: { behaviour: Behaviour; subject: string },
  killsMs: readonly number[],
): number {
  const most = Math.min(takenAt(behaviour, subject), ALL_WAITS_MS.length + 1);
  /** How many attempts there may have been: one that a relay did not live to end is made again. */
  let made = new Set([0]);
  let beforeMs = -Infinity;
  for (const { headers, path } of requests) {
    const atMs = Number(headers["webhook-timestamp"]) * 1000;
    const from = beforeMs;
    const isKilled = killsMs.some((killed) => killed >= from && killed <= atMs + 1_000);
    const waitAfter = (attempts: number) => {
      const asked = attempts === 1 ? ASKED_MS[behaviour] ?? 0 : 0;
      return attempts >= most ? Infinity : Math.max(ALL_WAITS_MS[attempts - 1] ?? 0, asked);
    };
    const before = [...made];
    const next = before.filter((attempts) => atMs - from >= waitAfter(attempts) - 1_000);
    made = new Set([
      ...next.map((attempts) => attempts + 1),
      ...(from > 0 && isKilled ? before : []),
    ]);
    const kills = killsMs.map((killed) => killed - from).join(" ");
    const told = `${atMs - from} ms after attempt ${before}; kills after ${kills}`;
    assert.ok(made.size > 0, `${subject} came to ${path} ${told}`);
    beforeMs = atMs;
  }
  return requests.length - Math.max(...made);
}

/** The logs tell every outcome once, with the attempts of an event in order and at their times. */
function checkLogs({ logged }: Campaign): void {
  const events = new Map<string, (AttemptRow & { webhookId: string })[]>();
  for (const row of logged.values()) {
    const name = `${row.webhookId} ${row.eventId}`;
    events.set(name, [...events.get(name) ?? [], row]);
  }
  let pairs = 0;
  for (const [name, rows] of events) {
    rows.sort((a, b) => a.attempt - b.attempt);
    for (const [i, row] of rows.entries()) {
      const wait = ALL_WAITS_MS[row.attempt - 1] ?? 0;
      if (row.nextAttemptAtMs !== null) {
        const planned = row.nextAttemptAtMs - row.atMs;
        const most = Math.max(wait * (1 + JITTER), row.status === 429 ? ASKED_MS.busy! : 0);
        assert.ok(planned >= Math.min(wait, DAY_MS), `${name}: ${planned} after ${row.attempt}`);
        assert.ok(planned <= most + MINUTE_MS, `${name}: ${planned} after ${row.attempt}`);
      }
      const before = rows[i - 1];
      if (before === undefined) continue;
      // Of many attempts the log has forgotten some before it was looked at.
      const isNext = isLong ? row.attempt > before.attempt : row.attempt === before.attempt + 1;
      assert.ok(isNext, `${name}: attempt ${row.attempt} after ${before.attempt}`);
      assert.ok(before.nextAttemptAtMs !== null, `${name}: there is one after the end`);
      assert.ok(row.atMs >= before.nextAttemptAtMs, `${name}: before it is due`);
      pairs++;
    }
  }
  assert.ok(pairs > 0);
}

partOrSkip(
  "faketime",
  `${ORGS * MAILS * BEHAVIOURS.length} deliveries to ${
    ORGS * BEHAVIOURS.length
  } receivers of every kind, with kill -9 in between: none is lost, none too early, none of what is deleted`,
  async (faketime) => {
    const random = seededRandom(41);
    const beganMs = performance.now();
    await using campaign = await Campaign.start(faketime);
    const { orgs, receivers: { taken } } = campaign;
    for (let i = 0; i < ORGS; i++) await campaign.newOrg(i);

    let isOver = false;
    const handedIn = Promise.all(orgs.map(async (org) => {
      for (let n = 0; n < MAILS; n++) await campaign.handIn(org, `mail_${n}`);
    })).finally(() => isOver = true);
    for (const share of isLong ? [0.1, 0.3, 0.5, 0.7, 0.9] : [0.4]) {
      const enough = share * ORGS * MAILS * BEHAVIOURS.length / 2;
      while (!isOver && taken.length < enough) await delay(2);
      await campaign.restart();
    }
    await handedIn;
    await campaign.quiet();
    for (const org of orgs) {
      await campaign.readMessages(org);
      assert.equal(org.messages.size, MAILS);
    }

    for (const [i, waitMs] of WAITS_MS.entries()) {
      if (i === 1) await deleteSome(campaign);
      const before = taken.length;
      // What a wait is longer at most, and what passed while the others were made.
      await campaign.restart(Math.min(waitMs * (1 + JITTER), DAY_MS) + MINUTE_MS);
      const enough = before + Math.floor(random() * MAILS * BEHAVIOURS.length / 3);
      for (let ms = 0; ms < 2_000 && taken.length < enough; ms += 5) await delay(5);
      if (isLong || i === 0) await campaign.restart();
      await campaign.quiet();
    }
    const again = checkTaken(campaign);
    const gone = orgs[0]!.hooks.find(({ behaviour }) => behaviour === "gone")!;
    const found = await campaign.holder(orgs[0]!).ask("GET", `/v1/mail/webhooks/${gone.id}`);
    assert.equal(accepted(found, 200).disabled_reason, "gone");
    checkLogs(campaign);
    if (!isLong) return;
    assert.equal(await campaign.waiting(), 0);
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    console.log(
      `${taken.length} requests, ${again} of them again, ${campaign.killsMs.length} kills, ` +
        `${campaign.logged.size} attempts read in the logs, ${seconds} s`,
    );
  },
);
