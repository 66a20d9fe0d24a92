/** A start on a store in which many rows have expired, against the store's own deletion of them. */
import { join } from "node:path";
import { parseConfig } from "../../server/base/config/config.ts";
import { openStore } from "../../server/process/open_store.ts";
import { writeRows } from "../../tests/support/expired_rows.ts";
import type { Row } from "../row.ts";

const ROWS = 250_000;
const DAY_MS = 86_400_000;

export const expiredStart: Row = {
  id: "expired-start",
  title: "opening a store with 250,000 expired rows, in batches against Deno KV in one transaction",
  unit: "rows/s",
  target: { rule: "at least", ratio: 0.5 },
  rounds: 3, // ten seconds each, and nothing but the disk disturbs them
  warmUp: false,
  slow: true,
  async prepare({ temporaryFolder, progress }) {
    const template = join(temporaryFolder, "template.kv");
    (await openAndAnswer(template)).close();
    progress(`writing ${ROWS.toLocaleString("en")} expired rows`);
    writeRows(template, {
      count: ROWS,
      expiresAtMs: Date.now() - DAY_MS,
      spreadMs: 30 * DAY_MS,
    });
    let round = 0;
    let largestLogBytes = 0;

    /** Rows a second that an opening deletes, in a folder of its own. */
    async function open(how: (folder: string) => Promise<() => unknown>): Promise<number> {
      const folder = join(temporaryFolder, String(round++));
      await Deno.mkdir(folder);
      const path = join(folder, "relay.kv");
      await Deno.copyFile(template, path);
      const beganMs = performance.now();
      const close = await how(folder);
      const tookMs = performance.now() - beganMs;
      largestLogBytes = Math.max(largestLogBytes, (await Deno.stat(`${path}-wal`)).size);
      await close();
      await Deno.remove(folder, { recursive: true });
      return ROWS / tookMs * 1000;
    }

    return {
      ours: () =>
        open(async (folder) => {
          const config = parseConfig({ RELAY_DATA_DIR: folder });
          const store = await openStore(config, Date.now(), {
            tell: progress,
            log: () => {},
            lost: () => {},
          });
          return () => store.close();
        }),
      reference: () =>
        open(async (folder) => {
          const kv = await openAndAnswer(join(folder, "relay.kv"));
          return () => kv.close();
        }),
      note: () => `the longest log of either side: ${Math.round(largestLogBytes / 2 ** 20)} MiB`,
      close: () => Promise.resolve(),
    };
  },
};

async function openAndAnswer(path: string): Promise<Deno.Kv> {
  const kv = await Deno.openKv(path);
  await kv.get(["meta", "layout"]);
  return kv;
}
