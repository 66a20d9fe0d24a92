/** API keys as a part of the mail area: who calls, and when a key was last used. */
import { flushLast } from "../../flush_last.ts";
import type { MailCore, MailPart } from "../mail_core.ts";
import { KeyAuthenticator } from "./authenticate_key.ts";
import { keyHandlers } from "./routes.ts";

export interface Keys extends MailPart {
  authenticator: KeyAuthenticator;
}

export function openKeys(core: MailCore): Keys {
  const { store, records, lastUsed, limits } = core;
  return {
    authenticator: new KeyAuthenticator({ store, records, lastUsed, limits }),
    handlers: keyHandlers(core),
    everyMinute: () => lastUsed.flush(),
    close: () => flushLast(lastUsed),
  };
}
