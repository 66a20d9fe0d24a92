/** Starts a relay process as server/main.ts does, with a journal that is saved again and again. */
import { parseConfig } from "../../server/config.ts";
import { readSettings } from "../../server/config/read_settings.ts";
import { SETTING_NAMES } from "../../server/config/setting_names.ts";
import { createLog } from "../../server/log.ts";
import { openStore } from "../../server/open_store.ts";
import { openRelay } from "../../server/relay.ts";
import { serve } from "../../server/serve.ts";

const config = parseConfig(readSettings(SETTING_NAMES));
const log = createLog();
const store = await openStore(config, Date.now(), { tell: console.log, log });
const relay = await openRelay({
  config,
  kv: store.kv,
  now: Date.now,
  random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  fetch,
  log,
}, { journalBounds: { rows: 3, records: 5, afterMs: 5, batch: 2 } });
const serving = serve(relay, { host: config.host, port: config.port, log });
Deno.addSignalListener("SIGTERM", async () => {
  await serving.stop();
  await store.close();
  Deno.exit(0);
});
console.log(`relay listening on http://${config.host}:${serving.port}`);
