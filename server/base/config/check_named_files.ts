/** The PEM files that settings name, checked before anything opens. */
import type { MailConfig } from "./mail_config.ts";
import { ConfigError } from "./values.ts";

/**
 * Proves that every named file can be read and holds PEM.
 * @throws ConfigError naming the variable; never what the file holds
 */
export async function checkNamedFiles(mail: MailConfig): Promise<void> {
  const files = [
    ["RELAY_SMTP_CA", mail.smtpCaFile, "CERTIFICATE-----"],
    ["RELAY_MAIL_TLS_CERT", mail.tls?.certFile, "CERTIFICATE-----"],
    ["RELAY_MAIL_TLS_KEY", mail.tls?.keyFile, "PRIVATE KEY-----"],
  ] as const;
  for (const [variable, path, label] of files) {
    if (path === undefined) continue;
    const text = await Deno.readTextFile(path).catch(() => undefined);
    if (text === undefined) throw new ConfigError(variable, "names a file that cannot be read");
    if (!text.includes(label)) {
      throw new ConfigError(variable, `must name a PEM file with a -----BEGIN ... ${label} block`);
    }
  }
}
