/**
 * Runs a relay with a shorter lease of its writer slot. TEST_LEASE_MS and TEST_CLOCK_SKEW_MS set its
 * timing.
 */
import { readSettings } from "../../server/base/config/read_settings.ts";
import { runRelay } from "./run_relay.ts";

const env = readSettings(["TEST_LEASE_MS", "TEST_CLOCK_SKEW_MS"]);
await runRelay({
  slotTiming: {
    leaseMs: Number(env["TEST_LEASE_MS"]),
    clockSkewMs: Number(env["TEST_CLOCK_SKEW_MS"]),
  },
});
