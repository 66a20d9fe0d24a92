/**
 * Mail to postmaster@ and abuse@, which goes on to the operator: as it came, within a mail of the
 * relay's own, so that no filter on the way reads it as the relay's words (docs/mail.md).
 */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { RelayError } from "../../base/errors.ts";
import { type Mark, momentOf, Repetitions } from "../../base/idempotency/repetitions.ts";
import { stageNewOutgoing } from "../../base/outgoing/outgoing_row.ts";
import { admit } from "../../base/bounds/rate_window.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import { defineRecord } from "../../base/storage/commits/record_key.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import {
  defineWindow,
  stageWindow,
  type WindowRecord,
} from "../../base/storage/commits/window_record.ts";
import { DAY_MS, HOUR_MS } from "../../base/time/time_units.ts";
import { makeUlid } from "../records/mail_id.ts";
import {
  OPERATOR_MAIL_KIND,
  OPERATOR_TRIED_MS,
  type OperatorPayload,
} from "./operator_delivery.ts";
import type { ReceivedMail, RefusedCode } from "./received_mail.ts";
import { repeatKeyOf } from "./repeats.ts";

export interface OperatorMailServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  blobs: Blobs;
  random: (sizeBytes: number) => Uint8Array;
  /** Envelope sender of forwarded mail. */
  from: string;
}

export const OPERATOR_MAILS = new Repetitions<Mark>({ name: "mail-operator", lifeMs: DAY_MS });

/** ["mail-operator", hash]: such a mail was passed on; written with the row that does it. */
const passedKey = defineRecord<Mark, [hash: string]>(["mail-operator"], 1, {
  holds: "such a mail to postmaster@ or abuse@ was passed on; written with the row that does it",
  expires: "24 h, then swept",
});
const RATE_KEY = defineWindow<[who: 0]>("mail-operator", {
  holds: "mails that were passed on to the operator",
  expires: "1 h",
})(0);
const RATE = { limit: 20, windowMs: HOUR_MS };
const FOLDER = ["operator"];

export type Passed = { code: null } | { code: RefusedCode; retryAfterMs?: number };

class RateReached extends Error {
  constructor(readonly retryAfterMs: number) {
    super("the operator gets no more mail now");
  }
}

export class OperatorMail {
  constructor(private readonly services: OperatorMailServices) {}

  /**
   * Takes a mail for the operator; the same bytes and envelope sender once a day.
   * @param address of ours, as the envelope gives it
   * @returns `rate_limited` beyond 20 an hour
   * @throws RelayError `unavailable`
   */
  async passOn(mail: ReceivedMail, address: string): Promise<Passed> {
    const { store, records, blobs } = this.services;
    if (this.#isReturned(mail, address)) return { code: null };
    const hash = await repeatKeyOf(mail);
    const former = await records.read<Mark>(passedKey(hash));
    if (OPERATOR_MAILS.standing(former, momentOf(store)) !== null) return { code: null };
    const room = await this.#findRoom();
    if (room.code !== null) return room;
    const blob = await blobs.write(FOLDER, [mail.raw]);
    try {
      const isQueued = await this.#commit({ v: 1, blob, from: mail.from, to: address }, hash);
      if (!isQueued) await blobs.discard(blob);
      return { code: null };
    } catch (error) {
      // After a commit of unknown outcome the sweep decides.
      if (!(error instanceof RelayError)) await blobs.discard(blob);
      if (error instanceof RateReached) {
        return { code: "rate_limited", retryAfterMs: error.retryAfterMs };
      }
      throw error;
    }
  }

  /**
   * What passOn() would say of a mail that has not come, unless it comes again.
   * @throws RelayError `unavailable`
   */
  async preview(mail: Pick<ReceivedMail, "from">, address: string): Promise<Passed> {
    return this.#isReturned(mail, address) ? { code: null } : await this.#findRoom();
  }

  /** What was passed on has come back: it would come back for ever. */
  #isReturned({ from }: Pick<ReceivedMail, "from">, address: string): boolean {
    return from === "" && address.toLowerCase() === this.services.from.toLowerCase();
  }

  async #findRoom(): Promise<Passed> {
    const { store, records, blobs } = this.services;
    const { window } = await records.read<WindowRecord>(RATE_KEY) ?? { window: [] };
    const admitted = admit(window, store.now(), RATE);
    if ("retryAfterMs" in admitted) {
      return { code: "rate_limited", retryAfterMs: admitted.retryAfterMs };
    }
    await blobs.refuseWhenFull();
    return { code: null };
  }

  /** @returns false where another request has passed it on meanwhile */
  async #commit(payload: OperatorPayload, hash: string): Promise<boolean> {
    const { commits, blobs, store, random } = this.services;
    const key = passedKey(hash);
    const id = `operator/${makeUlid(store.now(), random)}`;
    return await commits.submit((transaction) => {
      const { nowMs, livedMs } = transaction;
      if (OPERATOR_MAILS.standing(transaction.record(key), transaction) !== null) return false;
      stageWindow(transaction, RATE_KEY, RATE, (ms) => new RateReached(ms));
      OPERATOR_MAILS.put(transaction, key, { v: 1, atMs: nowMs, livedMs });
      blobs.keep(transaction, payload.blob);
      stageNewOutgoing(transaction, {
        id,
        kind: OPERATOR_MAIL_KIND,
        payload,
        dueMs: nowMs,
        endsAtMs: nowMs + OPERATOR_TRIED_MS,
        livedMs: store.lived(),
      });
      return true;
    });
  }
}
