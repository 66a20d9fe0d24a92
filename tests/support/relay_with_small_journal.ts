/** Runs a relay with a journal that is saved again and again. */
import { runRelay } from "./run_relay.ts";

await runRelay({ journalBounds: { rows: 3, records: 5, afterMs: 5, batch: 2 } });
