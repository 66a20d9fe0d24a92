/** Makes the mailer that the configuration asks for. */
import type { Config } from "../config/config.ts";
import type { Mailer } from "./mailer.ts";
import { createSmtpMailer } from "./smtp_mailer.ts";

/**
 * A mailer for RELAY_SMTP_URL; undefined where outbound mail is not configured.
 * @throws Deno.errors.NotFound and its like when RELAY_SMTP_CA cannot be read
 */
export async function openMailer(config: Config): Promise<Mailer | undefined> {
  const { smtp, from, smtpCaFile, connections } = config.mail;
  if (smtp === undefined || from === undefined) return undefined;
  return createSmtpMailer({
    smtp,
    ehloName: ehloName(config),
    connections,
    ...(smtpCaFile === undefined ? {} : { caPem: await Deno.readTextFile(smtpCaFile) }),
  });
}

/**
 * The name that this relay gives: the mail domain, else the host of its links, else the sender's
 * domain.
 */
export function ehloName({ mail, baseUrl }: Config): string {
  const { hostname } = new URL(baseUrl);
  const isDomain = /\.[a-z0-9-]*[a-z][a-z0-9-]*$/.test(hostname);
  return mail.domain ?? (isDomain ? hostname : mail.from!.address.split("@")[1]!);
}
