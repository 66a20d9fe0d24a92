/** Runs a relay with a journal that is saved again and again. */
import { runRelay } from "./run_relay.ts";

await runRelay({ journalBounds: { rows: 3, changes: 5, bytes: 10_000, afterMs: 5 } });
