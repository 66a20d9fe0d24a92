/** API keys as a part of the mail area: their routes, and when a key was last used. */
import { mount } from "../../base/description/declaration.ts";
import { flushLast } from "../../base/parts/flush_last.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { KEY_ROUTES } from "./routes.ts";

export function openKeys(core: MailCore): Part {
  const { lastUsed } = core;
  return {
    routes: mount(KEY_ROUTES, core),
    everyMinute: () => lastUsed.flush(),
    close: () => flushLast(lastUsed),
  };
}
