/** Runs a relay that trusts a clock that leapt ahead after a second of agreement, not after a minute. */
import { runRelay } from "./run_relay.ts";

await runRelay({ clockTiming: { agreementMs: 1_000, leapMs: 120_000 } });
