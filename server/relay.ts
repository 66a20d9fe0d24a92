/** The composition root: every part of the relay, put together over what is injected. */
import type { Hono } from "hono";
import { BanList } from "./admin/ban_list.ts";
import { Purges } from "./admin/purges.ts";
import { adminRoutes } from "./admin/routes.ts";
import { createAuthenticator } from "./agents/authenticate.ts";
import { Identities } from "./agents/identities.ts";
import { Presence } from "./agents/presence.ts";
import { agentRoutes } from "./agents/routes.ts";
import { findToken } from "./agents/tokens.ts";
import { createApp } from "./app.ts";
import { openCustody } from "./custody/open_custody.ts";
import { custodyRoutes } from "./custody/routes.ts";
import { sealedAgentKeys } from "./custody/sealed_rows.ts";
import type { Deps } from "./deps.ts";
import { descriptionRoutes } from "./description/routes.ts";
import { openDigests } from "./digest/digests.ts";
import { unsubscribeRoutes } from "./digest/unsubscribe.ts";
import { openDirectory } from "./directory/open_directory.ts";
import { flushAll } from "./flush_all.ts";
import { AnswersInHand, type AnswersInHandOptions } from "./http/answers_in_hand.ts";
import { createBodyReader } from "./http/body.ts";
import { describeFailure } from "./http/describe_failure.ts";
import type { HttpEnv } from "./http/route.ts";
import { openLocalMode } from "./local/part.ts";
import { logSparsely } from "./log_sparsely.ts";
import { openMail } from "./mail/part.ts";
import { SEALED_MAIL_SECRET } from "./mail/secret/mail_secret.ts";
import { toolNotes, toolRoutes } from "./mcp/routes.ts";
import { openMessages } from "./messages/part.ts";
import type { RecentMessagesBounds } from "./messages/rows/recent_messages.ts";
import { openNetwork } from "./network/network.ts";
import { deadNote } from "./outgoing/dead_rows.ts";
import { OutgoingQueue } from "./outgoing/outgoing_queue.ts";
import { OpenParts } from "./part.ts";
import { profileRoutes } from "./profiles/routes.ts";
import { startupNote } from "./startup_notes.ts";
import { startResealing } from "./sealing/start_resealing.ts";
import { FreeDisk, type MeasureFreeBytes } from "./storage/free_disk.ts";
import type { QueueBounds } from "./storage/job_queue.ts";
import { openStorage } from "./storage/open_storage.ts";
import type { StoreCapacity } from "./storage/store.ts";
import type { SlotTiming } from "./storage/writer_slot.ts";

export interface Relay {
  app: Hono<HttpEnv>;
  /** Whether the mail area is on. */
  mailOn: boolean;
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

const MINUTE_MS = 60_000;
/** At shutdown no next minute makes up for a flush that the store failed. */
const LAST_FLUSH_TRIES = 3;
/** Ids and times are meaningful between these years only. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2091, 0, 1);

/**
 * Opens a relay on a store: its parts one after the other, each upon those before it.
 * @throws Error when the clock is not between 2025 and 2090, the store is newer, or no writer slot is free
 */
export async function openRelay(deps: Deps, options: RelayOptions = {}): Promise<Relay> {
  requireSaneClock(deps.now());
  const parts = new OpenParts(deps.log);
  try {
    return await openParts(deps, options, parts);
  } catch (error) {
    await parts.close().catch(() => {}); // it is logged; why the relay did not open says more
    throw error;
  }
}

async function openParts(given: Deps, options: RelayOptions, parts: OpenParts): Promise<Relay> {
  const localMode = openLocalMode(given);
  const deps: Deps = { ...given, mailer: given.mailer ?? localMode?.mailer };
  const { config, kv, now, random, log } = deps;
  const { limits, hosted } = config;
  const { retentionDays, rawBodyBytes } = limits;

  const logWriteFailure = logSparsely(log, "store_write_failed");
  const storage = await openStorage({
    ...options,
    kv,
    now,
    random,
    hosted,
    shared: config.sharedStore,
    clockCheck: config.clockCheck,
    onWriteFailure(failure) {
      logWriteFailure(failure);
      options.onWriteFailure?.(failure);
    },
  });
  const { store, records, commits, leases, publicReads, addressKey, clockNote } = storage;
  parts.add("storage", {
    ...storage,
    notes: clockNote === null ? [] : [startupNote("clock", clockNote)],
  });
  const freeDisk = new FreeDisk(options.measureFreeBytes ?? null, limits.minFreeDiskBytes);
  await freeDisk.refresh();

  const bodies = createBodyReader();
  const answers = new AnswersInHand(options.answers);
  parts.add("http", {
    close() {
      bodies.close();
      answers.close();
    },
  });

  const identities = new Identities(kv);
  const network = openNetwork({
    store,
    commits,
    leases,
    publicReads,
    identities,
    retentionDays,
    log,
  });
  parts.add("network", {
    routes: network.routes,
    everyMinute: () => network.tidy(),
    async close() {
      await commits.drained(); // the last groups may have begun a fold of its counts
      await network.close();
    },
  });

  const presence = new Presence(store);
  const authenticator = createAuthenticator({
    byAddress: (address) => identities.byAddress(address),
    byId: (agentId) => identities.byId(agentId),
    findToken: (token) => findToken(records, token),
    seen: (agentId) => presence.touch(agentId),
  }, { now, signatureWindowSeconds: limits.signatureWindowSeconds });
  const readBody = bodies.read;
  const shared = {
    deps,
    store,
    records,
    commits,
    identities,
    authenticator,
    readBody,
    freeDisk,
    presence,
    addressKey,
    limits,
  };
  parts.add("agents", {
    routes: agentRoutes({ ...shared, publicReads }),
    everyMinute: () => presence.flush(),
    close: () => flushAll([presence], LAST_FLUSH_TRIES),
  });

  const { custody, ring, note: custodyNote } = await openCustody(deps, records);
  parts.add("custody", {
    routes: custodyRoutes({ ...shared, custody }),
    notes: [startupNote("custody", custodyNote)],
  });

  const { inbox, messages, recent, tokenSender } = parts.add(
    "messages",
    openMessages({ ...options, ...shared, storage, answers, signatory: custody }),
  );

  const directory = openDirectory({ ...shared, publicReads, config });
  parts.add("directory", { routes: directory.routes, everyMinute: () => directory.tidy() });

  const outgoing = new OutgoingQueue({ store, records, commits, log });
  const outgoingNote = await deadNote(kv);
  parts.add("outgoing", {
    notes: outgoingNote === null ? [] : [startupNote("outgoing", outgoingNote)],
    crons: { outgoing: () => outgoing.run() },
    endWaits: () => outgoing.stop(),
    close: () => outgoing.close(),
  });

  const digests = openDigests({ ...shared, inbox, messages, outgoing, leases });
  parts.add("digest", { routes: unsubscribeRoutes(shared), crons: { digest: digests.sweep } });
  parts.add("profiles", { routes: profileRoutes({ ...shared, random, now }) });

  const bans = new BanList({ kv, commits, identities });
  const { retentionMs } = messages;
  const purges = new Purges({ store, commits, leases, recent, retentionMs, log });
  parts.add("admin", {
    routes: adminRoutes({
      ...shared,
      adminToken: config.adminToken,
      rawBodyBytes,
      bans,
      purges,
      log,
      sweep: network.sweep,
    }),
    everyMinute: () => purges.run(),
    async close() {
      await bans.close();
      await purges.close();
    },
  });

  const { agentSearch } = directory;
  parts.add("tools", {
    routes: toolRoutes({ ...shared, custody, tokenSender, inbox, agentSearch }),
    notes: toolNotes(config),
  });
  const mail = await openMail({ deps, storage, readBody, freeDisk, ring });
  parts.add("mail", mail);
  if (localMode !== null) parts.add("local mode", localMode.part(readBody));
  parts.add("description", {
    routes: descriptionRoutes(deps, async (setting) => {
      const { describeOperations } = await import("./operations.ts");
      return describeOperations(setting, mail.isOn);
    }),
  });

  // From here on work runs in the background: all that adds to groups of commits is in its place.
  await outgoing.start();
  purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
  const rows = [sealedAgentKeys(identities), SEALED_MAIL_SECRET];
  const resealing = startResealing({ kv, commits, ring, rows, log });
  parts.add("resealing", { close: () => resealing.stop() });
  const everyMinute = setInterval(() => void parts.everyMinute(), MINUTE_MS);
  Deno.unrefTimer(everyMinute);

  return {
    app: createApp({ deps, bodies, answers, routes: parts.routes }),
    mailOn: mail.isOn,
    startupNotes: () => parts.notes,
    // Where nothing runs between requests, a cron does what is due each minute.
    crons: { ...parts.crons, figures: () => parts.everyMinute() },
    endWaits: () => parts.endWaits(),
    async close() {
      clearInterval(everyMinute);
      parts.endWaits();
      await parts.close();
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
