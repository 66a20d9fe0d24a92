/** Unread digests as a part of the relay: what sends tell them, the sweep, their delivery and links. */
import type { AgentCore } from "../agents/agent_core.ts";
import type { Inbox } from "../messages/inbox/inbox.ts";
import type { StoredMessages } from "../messages/rows/stored_messages.ts";
import { scanUndelivered, type UndeliveredSelection } from "../messages/inbox/undelivered.ts";
import type { OutgoingQueue } from "../../base/outgoing/outgoing_queue.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { nameCandidates } from "./candidates.ts";
import { digestDelivery } from "./digest_delivery.ts";
import { NOTIFICATION_ROUTES } from "./routes.ts";
import { sweepDigests } from "./sweep_digests.ts";

export interface DigestOptions {
  inbox: Inbox;
  messages: StoredMessages;
  outgoing: OutgoingQueue;
}

/**
 * Makes sends name their recipients as candidates and, where outbound mail is configured, registers
 * the delivery with the outgoing queue. Without it the cron does nothing, and candidates wait for it.
 */
export function openDigests(core: AgentCore, { inbox, messages, outgoing }: DigestOptions): Part {
  const { config, mailer } = core.deps;
  const retentionMs = messages.retentionMs + EXPIRY_MARGIN_MS;
  core.commits.annotateGroups(nameCandidates(retentionMs));

  const routes = mount(NOTIFICATION_ROUTES, core);
  const { from } = config.mail;
  if (mailer === undefined || from === undefined) {
    return { routes, crons: { digest: async () => {} } };
  }
  const shared = {
    ...core,
    intervalMs: core.limits.digestIntervalHours * HOUR_MS,
    retentionMs,
    undelivered: (agentId: number, selection: UndeliveredSelection) =>
      scanUndelivered({ ...core, messages }, agentId, selection),
    lastPollMs: (agentId: number) => inbox.lastPollMs(agentId),
    rememberedPollMs: (agentId: number) => inbox.rememberedPollMs(agentId),
  };
  outgoing.register(digestDelivery({ ...shared, from, mailer }));
  return {
    routes,
    crons: {
      async digest() {
        await sweepDigests(shared);
        // Where nothing runs between requests, nothing else would send them now.
        await outgoing.run();
      },
    },
  };
}
