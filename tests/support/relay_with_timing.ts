/**
 * Starts a relay process as server/main.ts does, with a shorter lease of its writer slot.
 * TEST_LEASE_MS and TEST_CLOCK_SKEW_MS set its timing.
 */
import { parseConfig } from "../../server/config.ts";
import { readSettings } from "../../server/config/read_settings.ts";
import { SETTING_NAMES } from "../../server/config/setting_names.ts";
import { createLog } from "../../server/log.ts";
import { openStore } from "../../server/open_store.ts";
import { openRelay } from "../../server/relay.ts";
import { serve } from "../../server/serve.ts";

const env = readSettings([...SETTING_NAMES, "TEST_LEASE_MS", "TEST_CLOCK_SKEW_MS"]);
const config = parseConfig(env);
const log = createLog();
const store = await openStore(config, Date.now(), { tell: console.log, log });
const relay = await openRelay({
  config,
  kv: store.kv,
  now: Date.now,
  random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  fetch,
  log,
}, {
  slotTiming: {
    leaseMs: Number(env["TEST_LEASE_MS"]),
    clockSkewMs: Number(env["TEST_CLOCK_SKEW_MS"]),
  },
});
const serving = serve(relay, { host: config.host, port: config.port, log });
Deno.addSignalListener("SIGTERM", async () => {
  await serving.stop();
  await store.close();
  Deno.exit(0);
});
console.log(`relay listening on http://${config.host}:${serving.port}`);
