/** The composition root: every part of the relay, put together over what is injected. */
import type { Hono } from "hono";
import { BanList } from "./admin/ban_list.ts";
import { Purges } from "./admin/purges.ts";
import { adminRoutes } from "./admin/routes.ts";
import { Identities } from "./agents/identities.ts";
import { profileRoutes } from "./profiles/routes.ts";
import { Presence } from "./agents/presence.ts";
import { agentRoutes } from "./agents/routes.ts";
import { findToken } from "./agents/tokens.ts";
import { createApp } from "./app.ts";
import { openCustody } from "./custody/open_custody.ts";
import { startResealing } from "./custody/start_resealing.ts";
import { custodyRoutes } from "./custody/routes.ts";
import type { Deps } from "./deps.ts";
import { descriptionRoutes } from "./description/routes.ts";
import { openDigests } from "./digest/digests.ts";
import { openDirectory } from "./directory/open_directory.ts";
import { unsubscribeRoutes } from "./digest/unsubscribe.ts";
import { flushAll } from "./flush_all.ts";
import { describeFailure } from "./http/describe_failure.ts";
import { AnswersInHand, type AnswersInHandOptions } from "./http/answers_in_hand.ts";
import { createBodyReader } from "./http/body.ts";
import { createAuthenticator } from "./agents/authenticate.ts";
import type { HttpEnv } from "./http/route.ts";
import { logSparsely } from "./log_sparsely.ts";
import { disabledMailRoutes } from "./mail/disabled.ts";
import { toolNotes, toolRoutes } from "./mcp/routes.ts";
import { Arrivals } from "./messages/inbox/arrivals.ts";
import { Inbox } from "./messages/inbox/inbox.ts";
import { PagesInHand } from "./messages/inbox/pages_in_hand.ts";
import { RecentMessages, type RecentMessagesBounds } from "./messages/rows/recent_messages.ts";
import { messageRoutes } from "./messages/routes.ts";
import { Sender } from "./messages/send/send.ts";
import { StoredMessages } from "./messages/rows/stored_messages.ts";
import { TokenSender } from "./messages/send/token_send.ts";
import { Wake } from "./messages/inbox/wake.ts";
import { markWakes } from "./messages/inbox/wake_marks.ts";
import { openNetwork } from "./network/network.ts";
import { deadNote } from "./outgoing/dead_rows.ts";
import { OutgoingQueue } from "./outgoing/outgoing_queue.ts";
import { ClockStamp } from "./storage/clock_stamp.ts";
import { FreeDisk, type MeasureFreeBytes } from "./storage/free_disk.ts";
import { GroupCommit } from "./storage/group_commit.ts";
import { IdSequence } from "./storage/id_sequence.ts";
import type { QueueBounds } from "./storage/job_queue.ts";
import { Leases } from "./storage/leases.ts";
import { PublicReads } from "./storage/public_reads.ts";
import { openAddressKey, openLayout } from "./storage/layout.ts";
import { RecordCache } from "./storage/record_cache.ts";
import { requireAnswer } from "./storage/require_answer.ts";
import {
  EMBEDDED_CAPACITY,
  KV_CONNECT_CAPACITY,
  type Store,
  type StoreCapacity,
} from "./storage/store.ts";
import { startupNote } from "./startup_notes.ts";
import { type SlotTiming, WriterSlot } from "./storage/writer_slot.ts";

export interface Relay {
  app: Hono<HttpEnv>;
  /** What start-up prints of the parts that run here. */
  startupNotes(): string[];
  /** Bodies of the crons, by their names in CRON_SCHEDULES; they log what fails, and throw nothing. */
  crons: Readonly<Record<string, () => Promise<void>>>;
  /** Answers every waiting poll, and lets none wait from now on: the first step of a shutdown. */
  endWaits(): void;
  /** Finishes what was accepted and writes what memory holds. */
  close(): Promise<void>;
}

export interface RelayOptions {
  /** Free bytes on the store's disk; none where the store is not on a disk of ours. */
  measureFreeBytes?: MeasureFreeBytes;
  /** Told of each write that the store failed. */
  onWriteFailure?: (failure: unknown) => unknown;
  slotTiming?: SlotTiming;
  capacity?: StoreCapacity;
  queueBounds?: QueueBounds;
  recentMessages?: RecentMessagesBounds;
  answers?: AnswersInHandOptions;
}

const FLUSH_MS = 60_000;
/** At shutdown no next minute makes up for a flush that the store failed. */
const LAST_FLUSH_TRIES = 3;
/** Ids and times are meaningful between these years only. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2091, 0, 1);

/**
 * Opens a relay on a store.
 * @throws Error when the clock is not between 2025 and 2090, the store is newer, or no writer slot is free
 */
export async function openRelay(deps: Deps, options: RelayOptions = {}): Promise<Relay> {
  const { config, kv, now, random, log } = deps;
  const { limits, hosted } = config;
  requireSaneClock(now());
  const store: Store = {
    kv,
    exclusive: !config.sharedStore,
    capacity: options.capacity ?? (hosted ? KV_CONNECT_CAPACITY : EMBEDDED_CAPACITY),
    now,
    random,
  };
  await requireAnswer(openLayout(kv));
  const clockStamp = new ClockStamp(kv, now);
  const clockNote = await clockStamp.open(config.clockCheck);
  const addressKey = await openAddressKey(kv, random);
  const records = new RecordCache(store);
  const { custody, ring, note: custodyNote } = await openCustody(deps, records);
  const slot = store.exclusive ? null : await WriterSlot.lease(store, options.slotTiming);
  const ids = await IdSequence.open(store, slot);
  const logWriteFailure = logSparsely(log, "store_write_failed");
  const commits = new GroupCommit({
    store,
    records,
    ids,
    bounds: options.queueBounds,
    onFailure(failure) {
      logWriteFailure(failure);
      options.onWriteFailure?.(failure);
    },
  });
  const leases = new Leases(store);
  const freeDisk = new FreeDisk(options.measureFreeBytes ?? null, limits.minFreeDiskBytes);
  await freeDisk.refresh();

  const identities = new Identities(kv);
  const presence = new Presence(store);
  const authenticator = createAuthenticator({
    byAddress: (address) => identities.byAddress(address),
    byId: (agentId) => identities.byId(agentId),
    findToken: (token) => findToken(records, token),
    seen: (agentId) => presence.touch(agentId),
  }, { now, signatureWindowSeconds: limits.signatureWindowSeconds });

  const arrivals = new Arrivals();
  const wake = new Wake({ store, arrivals, records, watchable: hosted });
  if (!store.exclusive) commits.annotateGroups(markWakes);
  const recent = new RecentMessages(options.recentMessages);
  const messages = new StoredMessages(store, limits.retentionDays, recent);
  const sender = new Sender({
    store,
    records,
    commits,
    limits,
    arrivals,
    recent,
    formerClockMs: ids.openedAtMs,
  });
  const answers = new AnswersInHand(options.answers);
  const pages = new PagesInHand({ answers, perAgent: limits.pagesInHandPerAgent });
  const inbox = new Inbox({ store, records, commits, limits, arrivals, messages, pages });
  const tokenSender = new TokenSender({
    store,
    records,
    identities,
    limits,
    sender,
    signatory: custody,
    freeDisk,
  });

  const outgoing = new OutgoingQueue({ store, records, commits, log });
  const digests = openDigests({
    deps,
    store,
    records,
    commits,
    identities,
    inbox,
    messages,
    outgoing,
    leases,
    addressKey,
  });
  const outgoingNote = await deadNote(kv);
  const { retentionDays, rawBodyBytes } = limits;
  const publicReads = new PublicReads(store, records);
  const network = openNetwork({
    store,
    commits,
    leases,
    publicReads,
    identities,
    retentionDays,
    log,
  });
  const directory = openDirectory({
    store,
    records,
    commits,
    presence,
    publicReads,
    addressKey,
    config,
  });

  const bans = new BanList({ kv, commits, identities });
  const { retentionMs } = messages;
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log });

  await outgoing.start(); // its jobs come after all that annotates groups

  const bodies = createBodyReader();
  const readBody = bodies.read;
  const shared = { deps, store, records, commits, identities, authenticator, readBody, freeDisk };
  const app = createApp({
    deps,
    bodies,
    answers,
    routes: [
      ...agentRoutes({ ...shared, presence, publicReads, addressKey }),
      ...messageRoutes({ ...shared, sender, tokenSender, inbox, messages, pages, addressKey }),
      ...custodyRoutes({ ...shared, presence, custody }),
      ...profileRoutes({ ...shared, presence, random, now, limits }),
      ...directory.routes,
      ...network.routes,
      ...adminRoutes({
        ...shared,
        adminToken: config.adminToken,
        rawBodyBytes,
        bans,
        purges,
        log,
        sweep: network.sweep,
      }),
      ...disabledMailRoutes(),
      ...unsubscribeRoutes({ ...shared, addressKey }),
      ...descriptionRoutes(deps),
      ...toolRoutes({
        ...shared,
        limits,
        presence,
        addressKey,
        custody,
        tokenSender,
        inbox,
        agentSearch: directory.agentSearch,
      }),
    ],
  });

  async function flush(): Promise<void> {
    sender.sweep();
    await flushAll([presence, inbox]);
  }
  async function tidy(): Promise<void> {
    await clockStamp.refresh();
    await network.tidy();
    await directory.tidy();
    await purges.run();
  }
  function logged(cron: string, body: () => Promise<void>): () => Promise<void> {
    return () => body().catch((error) => log("cron_failed", { cron, ...describeFailure(error) }));
  }
  const flushing = setInterval(() => {
    Promise.all([flush(), tidy()])
      .catch((error) => log("flush_failed", describeFailure(error)));
  }, FLUSH_MS);
  Deno.unrefTimer(flushing);
  purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
  const resealing = startResealing({ kv, commits, ring, identities, log });

  return {
    app,
    startupNotes: () => [
      ...(clockNote === null ? [] : [startupNote("clock", clockNote)]),
      startupNote("custody", custodyNote),
      ...(outgoingNote === null ? [] : [startupNote("outgoing", outgoingNote)]),
      ...toolNotes(config),
    ],
    crons: {
      digest: logged("digest", digests.sweep),
      outgoing: logged("outgoing", () => outgoing.run()),
      figures: logged("figures", tidy),
    },
    endWaits() {
      arrivals.close();
      outgoing.stop();
    },
    async close() {
      clearInterval(flushing);
      bodies.close();
      answers.close();
      arrivals.close();
      wake.close();
      await outgoing.close();
      await resealing.stop();
      await bans.close();
      await purges.close();
      await commits.drained();
      try {
        await flushAll([presence, inbox], LAST_FLUSH_TRIES);
      } finally {
        await commits.drained();
        await network.close(); // the groups of the flush may have begun a fold of its counts
        await commits.drained();
        await slot?.release();
      }
    },
  };
}

function requireSaneClock(nowMs: number): void {
  if (nowMs >= EARLIEST_MS && nowMs < LATEST_MS) return;
  throw new Error(
    `the clock says ${
      new Date(nowMs).toISOString()
    }; set it right: a relay runs between 2025 and 2090`,
  );
}
