/** Sign-in with Google as a part of the mail area. */
import type { MailConfig } from "../../../base/config/config.ts";
import { mount } from "../../../base/description/declaration.ts";
import { startupNote } from "../../../base/config/startup_notes.ts";
import type { Part } from "../../../base/parts/part.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import { GoogleKeys } from "./google_keys.ts";
import { GOOGLE_ROUTES } from "./routes.ts";

export function openGoogle(core: MailCore): Part {
  const { now, deps: { config, fetch } } = core;
  const { googleClientId: clientId, googleJwksUrl: url } = config.mail;
  const keys = new GoogleKeys({ url, fetch, now });
  return {
    notes: [startupNote("google", noteOf(config.mail))],
    routes: mount(GOOGLE_ROUTES, {
      ...core,
      signIn: clientId === undefined ? null : { clientId, keys },
    }),
    close: () => keys.close(),
  };
}

function noteOf({ googleClientId, googleJwksUrl }: MailConfig): string {
  return googleClientId === undefined
    ? "off: RELAY_GOOGLE_CLIENT_ID is unset, sign-in with Google answers 503"
    : `on: keys of ${new URL(googleJwksUrl).host}`;
}
