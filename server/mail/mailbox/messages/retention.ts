/** Deletes messages that are older than their inbox keeps them (docs/mail.md, "Inboxes"). */
import type { Clock } from "../../../base/time/clock.ts";
import type { Log } from "../../../base/log.ts";
import { RelayError } from "../../../base/errors.ts";
import { describeFailure } from "../../../base/describe_failure.ts";
import { LeasedSteps } from "../../../base/storage/leases/leased_steps.ts";
import type { Leases } from "../../../base/storage/leases/leases.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { DAY_MS, MINUTE_MS } from "../../../base/time/time_units.ts";
import { leastMailId } from "../../records/mail_id.ts";
import { messageKey, type MessageRow } from "../../records/message_record.ts";
import type { Messages } from "./messages.ts";
import { retentionKey } from "../inboxes/inbox_rows.ts";

export interface RetentionOptions {
  store: Store;
  leases: Leases;
  messages: Messages;
  now: Clock;
  log: Log;
}

interface RetentionRow {
  v: 1;
  days: number;
}

/** An inbox that has messages which are due. */
interface Due {
  orgId: string;
  inboxId: string;
  days: number;
}

const PAUSE_MS = 10 * MINUTE_MS;
const MESSAGES_A_STEP = 20;

export class Retention {
  readonly #steps: LeasedSteps<Due>;
  #lookedMs = -Infinity;
  /** Inboxes that this run could not delete from. */
  readonly #refused = new Set<string>();

  constructor(private readonly options: RetentionOptions) {
    this.#steps = new LeasedSteps({
      leases: options.leases,
      name: "mail-retention",
      pending: () => this.#pending(),
      step: (due) => this.#step(due),
    });
  }

  /** Looks every ten minutes, by a clock that may be moved; works until nothing is due. */
  async run(): Promise<void> {
    const nowMs = this.options.now();
    if (Math.abs(nowMs - this.#lookedMs) < PAUSE_MS) return;
    this.#refused.clear();
    await this.#steps.run();
    this.#lookedMs = nowMs;
  }

  /** Works in the background; what fails is logged, and the next minute tries again. */
  begin(): void {
    this.run().catch((error) => this.options.log("mail_retention_stopped", describeFailure(error)));
  }

  /** Ends after the step under way. */
  close(): Promise<void> {
    return this.#steps.close();
  }

  async #pending(): Promise<Due[]> {
    const store = this.options.store;
    const found: Due[] = [];
    for (const { key, value } of await store.list<RetentionRow>({ prefix: retentionKey.under() })) {
      const due = { orgId: key[1] as string, inboxId: key[2] as string, days: value.days };
      if ((await this.#dueOf(due, 1)).length > 0) found.push(due);
    }
    return found;
  }

  /** The oldest messages that are due, behind those that still have to go out. */
  async #dueOf(
    { orgId, inboxId, days }: Due,
    limit: number,
  ): Promise<Pick<MessageRow, "orgId" | "inboxId" | "id">[]> {
    const { store, now } = this.options;
    if (this.#refused.has(inboxId)) return [];
    const prefix = messageKey.under(orgId, inboxId);
    const end = messageKey(orgId, inboxId, leastMailId("msg", now() - days * DAY_MS));
    const rows = await store.list<MessageRow>({ prefix, end }, {
      limit,
      take: ({ value }) => !isOnItsWay(value),
    });
    return rows.map(({ value: { id } }) => ({ orgId, inboxId, id }));
  }

  async #step(due: Due): Promise<boolean> {
    const rows = await this.#dueOf(due, MESSAGES_A_STEP);
    try {
      for (const row of rows) await this.options.messages.remove(null, row);
    } catch (error) {
      if (!(error instanceof RelayError) || error.status >= 500) throw error;
      this.#refused.add(due.inboxId); // inbox or org has gone, whose erasure has the rest
      return false;
    }
    return rows.length === MESSAGES_A_STEP;
  }
}

/** Whether a message still has to go out to somebody. */
function isOnItsWay({ recipients, cancelledAtMs }: MessageRow): boolean {
  return cancelledAtMs === null &&
    recipients.some(({ status }) => status === "queued" || status === "deferred");
}
