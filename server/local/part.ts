/** Local mode (RELAY_MAIL_DEV) as a part of the relay: a next hop that is nobody, and its pages. */
import type { Deps } from "../deps.ts";
import type { Mailer } from "../outgoing/mailer.ts";
import type { Part } from "../part.ts";
import { startupNote } from "../startup_notes.ts";
import { createCaptureMailer } from "./capture_mailer.ts";
import { CapturedMails } from "./captured_mails.ts";
import { localRoutes } from "./routes.ts";

export interface LocalMode extends Part {
  /** Keeps what it is given. */
  mailer: Mailer;
}

/** Null for a relay that is not in local mode. */
export function openLocalMode({ config, now }: Pick<Deps, "config" | "now">): LocalMode | null {
  const { baseUrl, mail: { local, domain } } = config;
  if (!local) return null;
  const mails = new CapturedMails();
  return {
    mailer: createCaptureMailer(mails, now),
    routes: localRoutes({ mails, baseUrl, domain: domain! }),
    notes: [
      startupNote("local mode", `on: mail goes nowhere, what is sent is at ${baseUrl}/dev/mail`),
    ],
  };
}
