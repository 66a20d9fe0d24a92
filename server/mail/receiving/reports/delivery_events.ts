/** Applies what a provider says became of mails (docs/mail.md, "Delivery events"). */
import type { JsonValue } from "../../../../toolkit/json_value.ts";
import { RelayError } from "../../../base/errors.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import {
  sentIdKey,
  type SentIdRow,
  sentKey,
  type SentRow,
} from "../../mailbox/statuses/queued_mail.ts";
import { type DeliveryEvent, readEvent } from "./read_event.ts";
import type { RecipientChanges } from "./recipient_changes.ts";
import { statusBy } from "../../mailbox/statuses/recipient_status.ts";

/** Why an event changed nothing. */
export type IgnoredReason =
  | "malformed"
  | "unknown_message"
  | "unknown_recipient"
  | "repeated"
  | "final";

export interface EventsResult {
  applied: number;
  ignored: { index: number; reason: IgnoredReason }[];
}

/** Messages whose events are applied at the same time. */
const AT_ONCE = 8;

export class DeliveryEvents {
  constructor(
    private readonly services: { store: Store; changes: RecipientChanges },
  ) {}

  /**
   * Applies events; events of one message in their order.
   * @throws RelayError `unavailable` where they have to be handed in again: repeats are ignored
   */
  async apply(given: readonly JsonValue[]): Promise<EventsResult> {
    const ignored: EventsResult["ignored"] = [];
    const byMessage = new Map<string, { index: number; event: DeliveryEvent }[]>();
    for (const [index, one] of given.entries()) {
      const event = readEvent(one);
      if (event === null) {
        ignored.push({ index, reason: "malformed" });
        continue;
      }
      const name = JSON.stringify(event.message);
      byMessage.set(name, [...byMessage.get(name) ?? [], { index, event }]);
    }
    const groups = byMessage.values();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (const group of groups) {
        for (const { index, event } of group) {
          const reason = await this.#applyOne(event);
          if (reason !== null) ignored.push({ index, reason });
        }
      }
    }));
    ignored.sort((a, b) => a.index - b.index);
    return { applied: given.length - ignored.length, ignored };
  }

  /** @returns null where it is applied */
  async #applyOne({ message, address, event }: DeliveryEvent): Promise<IgnoredReason | null> {
    const { store, changes } = this.services;
    const messageId = "id" in message ? message.id : await this.#idOf(message.rfcMessageId);
    const sent = messageId === null ? null : await this.#read<SentRow>(sentKey(messageId));
    if (messageId === null || sent === null || store.now() >= sent.untilMs) {
      return "unknown_message";
    }
    const { orgId, inboxId } = sent;
    const place = { v: 1, orgId, inboxId, messageId } as const;
    const row = await changes.read({ ...place, recipient: 0 });
    if (row === null) return "unknown_message";
    const recipient = row.recipients.findIndex((one) => one.address === address);
    if (recipient < 0) return "unknown_recipient";
    try {
      const changed = await changes.report({ ...place, recipient }, event);
      if (changed === "unknown") return "unknown_message";
      if (changed !== "unchanged") return null;
    } catch (error) {
      // Inbox or org have gone meanwhile.
      const isGone = error instanceof RelayError &&
        (error.code === "not_found" || error.code === "unknown_key");
      if (isGone) return "unknown_message";
      throw error;
    }
    const { status } = row.recipients[recipient]!;
    if (status === "queued") return "unknown_recipient"; // nothing was sent there yet
    return status === statusBy(event.trigger) ? "repeated" : "final";
  }

  async #idOf(rfcMessageId: string): Promise<string | null> {
    return (await this.#read<SentIdRow>(sentIdKey(rfcMessageId)))?.messageId ?? null;
  }

  async #read<T>(key: Deno.KvKey): Promise<T | null> {
    return (await this.services.store.get<T>(key)).value;
  }
}
