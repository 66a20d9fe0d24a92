/** How many messages the mail server of a client may hand in within an hour (docs/api.md). */
import { type ClientAddresses, countedAddress } from "../../base/http/callers/client_address.ts";
import type { Limits } from "../../base/config/limits.ts";
import { admit, type WindowRule } from "../../base/bounds/rate_window.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { RecordKey } from "../../base/storage/commits/record_key.ts";
import {
  defineWindow,
  stageWindow,
  type WindowRecord,
} from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import type { RefusedCode } from "./received_mail.ts";
import type { RefusalWindows } from "./refusal_windows.ts";
import { Refused } from "./refused.ts";

const clientWindow = defineWindow<[addressHash: string]>("mail-client", {
  holds: "messages of a sending mail server",
  expires: "1 h",
});

export interface ClientRateServices {
  records: Pick<RecordCache, "read">;
  limits: Pick<Limits, "mailInboundPerClientPerHour">;
  now: () => number;
  clients: ClientAddresses;
  refusals: RefusalWindows;
}

/**
 * The count of one message's client: once for the message, with the first inbox that stores it, or in
 * memory where an inbox refuses it and none takes it. What the client may not send now reaches no
 * inbox, wherever in the envelope that is found.
 */
export class ClientRate {
  readonly #key: RecordKey<WindowRecord> | null;
  /** Names the window of its refused messages. */
  readonly #name: string;
  #isCounted = false;
  #refused: Refused | null = null;
  #release: () => void = () => {};

  /** @param clientIp null where the client is unknown: then nothing is counted */
  constructor(private readonly services: ClientRateServices, clientIp: string | null) {
    const address = clientIp === null ? undefined : countedAddress(clientIp);
    this.#key = address === undefined ? null : clientWindow(services.clients.hash(address));
    this.#name = `client ${address}`;
  }

  /** Why no further inbox gets the message; null while they may. */
  get refused(): Refused | null {
    return this.#refused;
  }

  /** Looks before the message is read, which costs most; the commit decides again. To be ended by done(). */
  async look(): Promise<void> {
    if (this.#key === null) return;
    const { refusals, limits } = this.services;
    const waitMs = refusals.waitMs(this.#name, limits.mailInboundPerClientPerHour);
    if (waitMs !== null) {
      this.#refused = refuse(waitMs);
      return;
    }
    const { limit, windowMs } = this.#rule();
    const free = { limit: limit - refusals.reservedOf(this.#name), windowMs };
    this.#release = refusals.reserve(this.#name);
    const found = await this.services.records.read<WindowRecord>(this.#key);
    const admitted = admit(found?.window ?? [], this.services.now(), free);
    if ("retryAfterMs" in admitted) this.#refused = refuse(admitted.retryAfterMs);
  }

  /** The message is decided. */
  done(): void {
    this.#release();
  }

  /** Counts the message in the commit that stores it. @throws Refused */
  stage(transaction: Transaction): void {
    if (this.#key === null || this.#isCounted) return;
    this.#refused = null; // of an earlier plan, on a record that was outdated
    stageWindow(transaction, this.#key, this.#rule(), (ms) => this.#refused = refuse(ms));
  }

  /** The commit was made. */
  counted(): void {
    this.#isCounted = true;
  }

  /** An inbox has refused the message: unless another one takes it, that is what is counted. */
  countRefused(): void {
    if (this.#key === null || this.#isCounted || this.#refused !== null) return;
    const { refusals, limits } = this.services;
    refusals.count(this.#name, limits.mailInboundPerClientPerHour);
  }

  /** What was refused leaves less. */
  #rule(): WindowRule {
    const { refusals, limits } = this.services;
    const limit = limits.mailInboundPerClientPerHour - refusals.countOf(this.#name);
    return { limit, windowMs: HOUR_MS };
  }
}

/**
 * Whether a refusal counts against the client of a message that no inbox takes. An unknown address costs
 * only a look, and providers pass on whole dictionaries of them.
 */
export function isCounted(code: RefusedCode | null): boolean {
  return code === "blocked" || code === "over_quota" || code === "rate_limited";
}

function refuse(retryAfterMs: number): Refused {
  return new Refused("rate_limited", retryAfterMs);
}
