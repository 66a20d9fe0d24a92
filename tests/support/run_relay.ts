/** Runs this process as server/main.ts does, with options that tests alone give. */
import { parseConfig } from "../../server/base/config/config.ts";
import { readSettings } from "../../server/base/config/read_settings.ts";
import { SETTING_NAMES } from "../../server/base/config/setting_names.ts";
import { createLog } from "../../server/process/json_log.ts";
import { openStore } from "../../server/process/open_store.ts";
import { openMailer } from "../../server/base/mailer/open_mailer.ts";
import { openRelay, type RelayOptions } from "../../server/relay.ts";
import { serve } from "../../server/process/serve.ts";

export async function runRelay(options: RelayOptions): Promise<void> {
  const config = parseConfig(readSettings(SETTING_NAMES));
  const log = createLog();
  const store = await openStore(config, Date.now(), {
    tell: console.log,
    log,
    lost: (line) => {
      throw new Error(line);
    },
  });
  const relay = await openRelay({
    config,
    backend: store.backend,
    now: Date.now,
    elapsed: () => performance.now(),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    fetch,
    mailer: await openMailer(config),
    log,
  }, options);
  const serving = serve(relay, { host: config.host, port: config.port, log });
  Deno.addSignalListener("SIGTERM", async () => {
    await serving.stop();
    await store.close();
    Deno.exit(0);
  });
  console.log(`relay listening on http://${config.host}:${serving.port}`);
}
