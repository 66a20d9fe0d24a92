/** What the operator's page shows, of the parts that it is of. */
import type { RelayStatus } from "../web/admin/relay_status.ts";
import type { Core } from "../base/parts/core.ts";
import type { OpenCustody } from "../messaging/custody/part.ts";
import { createDatabaseProbe } from "./health.ts";
import type { Http } from "../base/http/part.ts";
import { countQueue } from "../base/outgoing/queue_counts.ts";
import type { RecentEvents } from "./recent_events.ts";
import type { Waiting } from "../base/waiting/part.ts";

export interface RelayStatusParts {
  core: Core;
  http: Http;
  waits: Waiting["waits"];
  custody: OpenCustody;
  recentEvents: RecentEvents;
  startupLines(): readonly string[];
}

export function createRelayStatus(
  { core, http, waits, custody: { custody, ring }, recentEvents, startupLines }: RelayStatusParts,
): RelayStatus {
  const { freeDisk, commits, store, limits } = core;
  return {
    startupLines,
    clock: () => store.clock.state,
    isDatabaseAlive: createDatabaseProbe(store),
    async freeDiskBytes() {
      await freeDisk.refresh();
      return freeDisk.freeBytes;
    },
    minFreeDiskBytes: limits.minFreeDiskBytes,
    queues: () => [
      ["Requests under way", http.requests.count],
      ["Waiting polls", waits.size],
      ["Changes waiting for a commit", commits.pending],
    ],
    refusals: () => http.refusals.list(),
    events: () => recentEvents.newestFirst(),
    outgoing: () => countQueue(store),
    custodyKeys: {
      encrypting: ring.primaryId,
      opening: ring.ids.filter((id) => id !== ring.primaryId),
      missing: custody.missingKeys,
    },
  };
}
