/** Search as a part of the mail area, with its index where the disk is the relay's own. */
import { join } from "node:path";
import { blobFolder } from "../../base/blobs/part.ts";
import { mount } from "../../base/description/declaration.ts";
import { logSparsely } from "../../base/log_sparsely.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MailIndex } from "./mail_index.ts";
import { MailSearch } from "./mail_search.ts";
import { SEARCH_ROUTES } from "./routes.ts";

/** Beside the store; it may be deleted at any time, and needs no backup. */
const FOLDER = "mail-search";

export interface SearchPart extends Part {
  search: MailSearch;
}

export function openSearch(core: MailCore): SearchPart {
  const { store, blobs, limits, deps: { config, log } } = core;
  const { dataDir } = config;
  const index = store.exclusive && !config.hosted && !config.onDeploy
    ? new MailIndex({
      ...core,
      log,
      folder: join(dataDir, FOLDER),
      blobs: blobFolder(dataDir),
      onLoss: logSparsely(log, "mail_index_failed"),
      mailMinFreeDiskBytes: limits.mailMinFreeDiskBytes,
    })
    : null;
  const search = new MailSearch({ store, blobs, index });
  return {
    search,
    routes: mount(SEARCH_ROUTES, { ...core, search }),
    start: () => index?.start(),
    everyMinute: async () => await index?.catchUp(),
    close: async () => await index?.close(),
  };
}
