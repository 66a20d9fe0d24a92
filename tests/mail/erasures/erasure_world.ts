/** Orgs with all that one can have, one of them deleted, and sweepers that erase it. */
import assert from "node:assert/strict";
import { deleteOrg } from "../../../server/mail/orgs/change_org.ts";
import { Erasures } from "../../../server/mail/orgs/erasures.ts";
import type { KeysRecord } from "../../../server/mail/records/key_record.ts";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import type { GroupCommit } from "../../../server/base/storage/commits/group_commit.ts";
import { Leases } from "../../../server/base/storage/leases/leases.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { generateKeyPair, type KeyPair } from "../../../toolkit/generate_key_pair.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { newKey } from "../../support/custody_key.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming, shownRows } from "../../support/mail_store.ts";
import { openMemoryKv, rawOf } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { openTestStorage } from "../../support/storage.ts";

export const REPLAY_MS = 361_000;
export const LIMITS = { mailInboxesPerTrial: 5, mailRegistrationsPerIpPerHour: 1000 };
/** More rows than one step takes. */
const USED_ROWS = 230;
/** The runtime takes a thousand. */
const ROWS_A_COMMIT = 500;

export interface World {
  kv: Deno.Kv;
  clock: TestClock;
  victim: Victim;
  /** All rows of the org that is left alone. */
  others: string[];
  otherId: string;
  /** A relay on the store that has not begun the sweep. */
  relay: TestRelay;
}

export interface Victim {
  holder: MailKeyHolder;
  keys: KeyPair;
  /** Texts that no row may hold once the org is erased. */
  traces: string[];
}

/** An org with all that one can have, under names that are found again. */
export async function makeVictim(relay: TestRelay, kv: Deno.Kv): Promise<Victim> {
  const keys = generateKeyPair();
  const { org_id, api_key } = accepted(
    await askMail(relay.url, "POST", "/v1/mail/agents/register", {
      body: signRegistration(relay.clock.now(), keys, "trace-label"),
    }),
    201,
  );
  const holder = new MailKeyHolder(relay.url, api_key, org_id);
  const traces = ["trace-", org_id];
  const inboxes = [];
  for (let i = 0; i < 3; i++) {
    const inbox = await holder.inbox({
      display_name: "trace-name",
      client_id: `trace-client-${i}`,
      allow_send: ["trace-send.org"],
      allow_receive: ["trace-receive.org"],
      block_receive: ["trace-block.org"],
    });
    inboxes.push(inbox);
    traces.push(inbox.id);
  }
  for (let i = 0; i < 9; i++) {
    const scope = i % 2 === 0 ? {} : { scope: "inbox", inbox_id: inboxes[0].id };
    const made = await holder.newKey({ name: `trace-key-${i}`, ...scope });
    accepted(await holder.with(made.api_key).ask("GET", "/v1/mail/inboxes"), 200);
    traces.push(made.id, made.prefix);
  }
  // One inbox and its keys, one key, deleted before.
  accepted(await holder.ask("DELETE", `/v1/mail/inboxes/${inboxes[0].id}`), 204);
  await relay.relay.crons.figures!();
  const commit = kv.atomic();
  for (let i = 0; i < USED_ROWS; i++) commit.set(["mail-key-used", org_id, `key_${i}`], i);
  await commit.commit();
  return { holder, keys, traces };
}

interface Prepared {
  rows: Deno.KvEntry<unknown>[];
  custodyKey: Uint8Array;
  nowMs: number;
  victim: Victim;
  others: string[];
  otherId: string;
}

/** Rows of a store with two orgs, one of them deleted and not yet erased. */
async function prepare(): Promise<Prepared> {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  const custodyKey = newKey();
  const relay = await startOn(kv, clock, custodyKey);
  try {
    const other = await makeVictim(relay, kv);
    const victim = await makeVictim(relay, kv);
    const otherId = other.holder.orgId;
    // Another process takes the deletion, and is killed before its sweep.
    const sweeper = await openSweeper({ clock }, kv);
    const { orgId } = victim.holder;
    const { value } = await kv.get<KeysRecord>(["mail-keys", orgId]);
    const limits = DEFAULT_LIMITS;
    await deleteOrg({ ...sweeper, limits }, { org: { id: orgId }, key: value!.keys[0]! });
    await sweeper.close();
    assertMailRefused(await victim.holder.readOrg(), "unknown_key");
    const others = await rowsNaming(kv, otherId);
    assert.notDeepEqual(await rowsNaming(kv, victim.holder.orgId), []);
    const rows = await Array.fromAsync(kv.list({ prefix: [] }));
    return { rows, custodyKey, nowMs: clock.now(), victim, others, otherId };
  } finally {
    await relay.stop();
  }
}

let prepared: Promise<Prepared> | undefined;

async function startOn(kv: Deno.Kv, clock: TestClock, key: Uint8Array): Promise<TestRelay> {
  const relay = await startMailRelay({
    config: { sharedStore: true, custodyKeys: [key] },
    deps: { kv, now: clock.now },
    limits: LIMITS,
  });
  return Object.assign(relay, { clock });
}

/** A store with two orgs, one of them deleted and not yet erased. */
export async function withDeletedOrg(test: (world: World) => Promise<void>): Promise<void> {
  const { rows, custodyKey, nowMs, victim, others, otherId } = await (prepared ??= prepare());
  using kv = await openMemoryKv();
  for (let i = 0; i < rows.length; i += ROWS_A_COMMIT) {
    const commit = kv.atomic();
    for (const { key, value } of rows.slice(i, i + ROWS_A_COMMIT)) {
      if (key[0] !== "mail-erasure") commit.set(key, value);
    }
    await commit.commit();
  }
  const clock = createTestClock(nowMs);
  const relay = await startOn(kv, clock, custodyKey);
  // Not before: its own sweep, which begins with it, would take part.
  await relay.relay.idle();
  for (const { key, value } of rows) if (key[0] === "mail-erasure") await kv.set(key, value);
  try {
    const holder = victim.holder.at(relay);
    await test({ kv, clock, victim: { ...victim, holder }, others, otherId, relay });
  } finally {
    await relay.stop();
  }
}

export interface Sweeper {
  commits: GroupCommit;
  erasures: Erasures;
  logged: string[];
  close(): Promise<void>;
}

export async function openSweeper({ clock }: Pick<World, "clock">, kv: Deno.Kv): Promise<Sweeper> {
  const storage = await openTestStorage(kv, {
    exclusive: false,
    clock,
    capacity: KV_CONNECT_CAPACITY,
  });
  const { store, commits } = storage;
  const logged: string[] = [];
  const erasures = new Erasures({
    store,
    commits,
    leases: new Leases(store),
    limits: DEFAULT_LIMITS,
    log: (event) => void logged.push(event),
    alsoErased: () => [],
    eraseFirst: () => Promise.resolve(false),
    tables: ["mail-key-used", "mail-inbox", "mail-list", "mail-client-id"],
  });
  return {
    commits,
    erasures,
    logged,
    async close() {
      await erasures.close();
      await storage.close();
    },
  };
}

/** The store, with something done before the nth list of rows of the mail area. */
export function interrupted(kv: Deno.Kv, atList: number, interrupt: () => Promise<void>) {
  let lists = 0;
  let came = false;
  const proxy = new Proxy(rawOf(kv), {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name !== "list") return typeof value === "function" ? value.bind(target) : value;
      return async function* (selector: { prefix?: Deno.KvKey }, options: Deno.KvListOptions) {
        if (String(selector.prefix?.[0]).startsWith("mail-") && ++lists === atList) {
          came = true;
          await interrupt();
        }
        yield* target.list(selector as Deno.KvListSelector, options);
      };
    },
  });
  return { kv: proxy, came: () => came };
}

/** Nothing of the org is left but its addresses, and everything of the other. */
export async function assertErased({ kv, victim, others, otherId }: World): Promise<void> {
  const rows = await shownRows(kv);
  const isKept = (row: string) => !row.includes("mail-key-used");
  const now = rows.filter((row) => row.includes(otherId));
  assert.deepEqual(now.filter(isKept), others.filter(isKept));
  for (const row of rows) {
    if (!victim.traces.some((trace) => row.includes(trace))) continue;
    const isOthers = row.includes(otherId);
    const isAddress = row.includes('"mail-address"');
    const isBinding = row.includes('"mail-public-key"') && row.includes(victim.keys.address);
    assert.ok(isOthers || isAddress || isBinding, row);
  }
  for (const prefix of ["mail-erasure", "mail-org"]) {
    for await (const { key } of kv.list({ prefix: [prefix] })) {
      assert.notEqual(key[1], victim.holder.orgId);
    }
  }
  // Hashes of keys name nobody: each that is left is or was a key of an org that is there.
  const known: string[] = [];
  for await (const { value } of kv.list<KeysRecord>({ prefix: ["mail-keys"] })) {
    known.push(...value.keys.map(({ hash }) => hash), ...value.dropped ?? []);
  }
  const hashes = await Array.fromAsync(kv.list({ prefix: ["mail-key"] }));
  assert.deepEqual(hashes.map(({ key }) => key[1] as string).sort(), known.sort());
}

export async function registerAgain({ relay, clock, victim }: World): Promise<MailKeyHolder> {
  const { org_id, api_key } = accepted(
    await askMail(relay.url, "POST", "/v1/mail/agents/register", {
      body: signRegistration(clock.now(), victim.keys),
    }),
    201,
  );
  return new MailKeyHolder(relay.url, api_key, org_id);
}
