/**
 * How often one client address may search (specification, section 8). Only answered searches count.
 * On an exclusive store the window is kept in memory. On a shared store a record holds it, so that
 * the limit holds across processes.
 */
import type { AgentCore } from "../agents/agent_core.ts";
import { rateLimited, type RelayError } from "../../base/errors.ts";
import { admitOrRefuse, type Window, type WindowRule } from "../../base/bounds/rate_window.ts";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import {
  defineWindow,
  stageWindow,
  type WindowRecord,
} from "../../base/storage/commits/window_record.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";

/** Addresses whose windows memory holds. */
const REMEMBERED = 100_000;

const keyOf = defineWindow<[addressHash: string]>("search", {
  holds: "searches of a client address, on shared stores",
  expires: "1 min",
});

export class SearchLimit {
  readonly #windows = new BoundedMap<string, Window>(REMEMBERED);

  constructor(private readonly core: AgentCore) {}

  /** Before the search, without counting it. @throws RelayError `rate_limited` */
  async refuseMore(addressHash: string): Promise<void> {
    const { store, records } = this.core;
    const window = store.exclusive
      ? this.#windows.get(addressHash)
      : (await records.read<WindowRecord>(keyOf(addressHash)))?.window;
    this.#admit(window);
  }

  /** Counts a search that is about to be answered. @throws RelayError `rate_limited` */
  async count(addressHash: string): Promise<void> {
    const { store, commits } = this.core;
    if (store.exclusive) {
      this.#windows.set(addressHash, this.#admit(this.#windows.get(addressHash)));
      return;
    }
    await commits.submit({
      whateverTheClock: true, // nothing could be found
      plan: (transaction) =>
        stageWindow(transaction, keyOf(addressHash), this.#rule, this.#refusal),
    });
  }

  #admit(window: Window = []): Window {
    return admitOrRefuse(window, this.core.store.now(), this.#rule, this.#refusal);
  }

  get #rule(): WindowRule {
    return { limit: this.core.limits.searchesPerIpPerMinute, windowMs: MINUTE_MS };
  }

  readonly #refusal = (retryAfterMs: number): RelayError => {
    const most =
      `at most ${this.core.limits.searchesPerIpPerMinute} directory searches a minute from one address; wait retry_after_ms, then search again`;
    return rateLimited(
      `${most} (browsing, without q and tags, is not limited)`,
      retryAfterMs,
      { toolMessage: `${most} (list_agents without query is not limited)` },
    );
  };
}
