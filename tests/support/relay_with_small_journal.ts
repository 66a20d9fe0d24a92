/** Runs a relay with a journal that is saved again and again. */
import { runRelay } from "./run_relay.ts";

await runRelay({ journalBounds: { rows: 30, changes: 300, bytes: 100_000, afterMs: 5 } });
