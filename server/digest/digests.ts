/**
 * Opens the digests of undelivered messages: what sends write for them, the sweep, and the
 * delivery.
 */
import type { Identities } from "../agents/identities.ts";
import type { Deps } from "../deps.ts";
import type { Inbox } from "../messages/inbox/inbox.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import { scanUndelivered, type UndeliveredSelection } from "../messages/inbox/undelivered.ts";
import type { OutgoingQueue } from "../outgoing/outgoing_queue.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import type { Leases } from "../storage/leases.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/store.ts";
import { nameCandidates } from "./candidates.ts";
import { digestDelivery } from "./digest_delivery.ts";
import { sweepDigests } from "./sweep.ts";

const HOUR_MS = 3_600_000;

export interface DigestServices {
  deps: Deps;
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  identities: Identities;
  inbox: Inbox;
  messages: StoredMessages;
  outgoing: OutgoingQueue;
  leases: Leases;
  /** The secret under which the store's mailboxes are hashed. */
  addressKey: Uint8Array;
}

export interface Digests {
  /** Body of the cron: queues what is due now and hands it to the next hop. */
  sweep(): Promise<void>;
}

/**
 * Makes sends name their recipients as candidates. If outbound mail is configured, also registers
 * the delivery with the outgoing queue. Without it the sweep does nothing, and the candidates wait.
 */
export function openDigests(services: DigestServices): Digests {
  const { deps, store, records, commits, identities, inbox, messages, outgoing } = services;
  const { leases, addressKey } = services;
  const { config, mailer } = deps;
  const retentionMs = messages.retentionMs + EXPIRY_MARGIN_MS;
  commits.annotateGroups(nameCandidates(retentionMs));

  const { from } = config.mail;
  if (mailer === undefined || from === undefined) return { sweep: async () => {} };
  const shared = {
    store,
    records,
    commits,
    intervalMs: config.limits.digestIntervalHours * HOUR_MS,
    retentionMs,
    addressKey,
    undelivered: (agentId: number, selection: UndeliveredSelection) =>
      scanUndelivered({ store, records, messages }, agentId, selection),
    lastPollMs: (agentId: number) => inbox.lastPollMs(agentId),
    rememberedPollMs: (agentId: number) => inbox.rememberedPollMs(agentId),
  };
  outgoing.register(digestDelivery({ ...shared, identities, config, from, mailer }));
  return {
    async sweep() {
      await sweepDigests({ ...shared, leases, outgoing });
      // Where nothing runs between requests, nothing else would send them now.
      await outgoing.run();
    },
  };
}
