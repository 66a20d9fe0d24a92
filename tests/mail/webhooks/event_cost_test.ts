/** What events cost those who asked for none: nothing; and what reads and writes they add otherwise. */
import assert from "node:assert/strict";
import type { WebhookFilter } from "../../../server/mail/records/event_record.ts";
import { countReads } from "../../support/count_reads.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { putWebhooks, webhookFilter } from "../../support/raised_events.ts";
import { putThread, withDeliveries } from "../sending/delivery_bench.ts";
import { openMemoryKv, setBy } from "../../support/read_through.ts";

type Counts = Record<string, number>;

/** Keys that each commit writes and deletes, by their first part. */
function countWrites(kv: Deno.Kv): { kv: Deno.Kv; take(): Counts[] } {
  let commits: Counts[] = [];
  const atomic = () => {
    const operation = kv.atomic();
    const counts: Counts = {};
    commits.push(counts);
    const counted: Deno.AtomicOperation = new Proxy(operation, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (["set", "delete", "sum"].includes(String(name))) {
            const changed = setBy(...args as [Deno.KvKey, unknown]);
            for (const [[first]] of changed) {
              counts[String(first)] = (counts[String(first)] ?? 0) + 1;
            }
          }
          const result = member.apply(target, args);
          return result === target ? counted : result;
        };
      },
    });
    return counted;
  };
  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (name === "atomic") return atomic;
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    take() {
      const taken = commits;
      commits = [];
      return taken;
    },
  };
}

/** What the second has more of than the first, by key. */
function more(before: Counts, after: Counts): Counts {
  const names = Object.keys({ ...before, ...after });
  const added = names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}

/** What the one commit writes that writes a message. */
function messageCommit(commits: readonly Counts[]): Counts {
  const of = commits.filter((counts) => "mail-message" in counts);
  assert.equal(of.length, 1);
  return of[0]!;
}

/** A row of the event, and what has its body made. */
const EVENT_ROWS = { "mail-event": 1, "outgoing": 1, "outgoing-lane": 1 };

for (const exclusive of [true, false]) {
  Deno.test(`an outcome and a report cost nothing without webhooks, a thread and two rows with one (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const reads = countReads(bench.kv);
      const writes = countWrites(reads.kv);
      const relay = await bench.open({ exclusive, kv: writes.kv });
      await putThread(bench);
      const cost = async (work: () => Promise<unknown>) => {
        await relay.commits.drained();
        reads.takeCounts();
        writes.take();
        await work();
        return { reads: reads.takeCounts(), writes: messageCommit(writes.take()) };
      };
      const round = async () => {
        const { orgId, inboxId, id: messageId } = await bench.accept(relay, ["ann@example.org"]);
        const place = { v: 1, orgId, inboxId, messageId, recipient: 0 } as const;
        return {
          outcome: await cost(() => relay.outgoing.run()),
          report: await cost(() => relay.changes.report(place, { trigger: "reported_delivered" })),
        };
      };
      await round(); // what memory lacks at first
      const without = await round();
      const deaf = webhookFilter({ events: ["message.received", "message.failed"] });
      await bench.putOrg({ webhooks: [deaf] });
      await round();
      const unheard = await round();
      await bench.putOrg({ webhooks: [webhookFilter()] });
      await round();
      const heard = await round();
      for (const part of ["outcome", "report"] as const) {
        const [before, after] = [without[part], heard[part]];
        assert.equal(before.reads["mail-thread"], undefined);
        assert.equal(before.writes["mail-event"], undefined);
        // The attempt reads it, and no more, where memory is not right.
        const orgReads = part === "outcome" && !exclusive ? 1 : undefined;
        assert.equal(before.reads["mail-org"], orgReads);
        assert.deepEqual(more(before.writes, unheard[part].writes), {});
        assert.deepEqual(more(before.reads, after.reads), { "mail-thread": 1 });
        assert.deepEqual(more(before.writes, after.writes), EVENT_ROWS);
      }
    }));
}

for (const sharedStore of [false, true]) {
  Deno.test(`a mail that comes costs nothing more without webhooks, two rows with one (shared: ${sharedStore})`, async () => {
    const kv = await openMemoryKv();
    const reads = countReads(kv);
    const writes = countWrites(reads.kv);
    const dataDir = await Deno.makeTempDir({ prefix: "relay-event-cost-" });
    const counted = { config: { sharedStore, dataDir }, deps: { kv: writes.kv } };
    let to = "";
    let orgId = "";
    /** What the second mail after a start costs, when memory has all. */
    const cost = async (...webhooks: WebhookFilter[]) => {
      if (orgId !== "") await putWebhooks(kv, orgId, ...webhooks);
      await using relay = await startMailRelay(counted);
      if (orgId === "") {
        const owner = await newOrg(relay);
        orgId = owner.orgId;
        to = (await owner.inbox({})).address;
      }
      const timestamp = Math.floor(relay.clock.now() / 1000);
      const receive = async () =>
        accepted(await handIn(relay.url, { to: [to], raw: mailText(), timestamp }), 200);
      await receive();
      reads.takeCounts();
      writes.take();
      await receive();
      return { reads: reads.takeCounts(), writes: messageCommit(writes.take()) };
    };
    try {
      await cost(); // the first rows of a store
      const without = await cost();
      assert.equal(without.writes["mail-event"], undefined);
      assert.deepEqual(await cost(webhookFilter({ events: ["message.sent"] })), without);
      assert.deepEqual(more(without.writes, (await cost(webhookFilter())).writes), EVENT_ROWS);
    } finally {
      kv.close();
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
