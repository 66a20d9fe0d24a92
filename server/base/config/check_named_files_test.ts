import assert from "node:assert/strict";
import { join } from "node:path";
import { checkNamedFiles } from "./check_named_files.ts";
import { parseMailConfig } from "./mail_config.ts";

Deno.test("checkNamedFiles() names the setting whose file is missing or is no PEM", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const cert = join(dir, "cert.pem");
    const key = join(dir, "key.pem");
    await Deno.writeTextFile(cert, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n");
    await Deno.writeTextFile(key, "-----BEGIN RSA PRIVATE KEY-----\nx\n");
    const named = (ca: string, tlsCert: string, tlsKey: string) =>
      checkNamedFiles(parseMailConfig({
        RELAY_SMTP_CA: ca,
        RELAY_MAIL_TLS_CERT: tlsCert,
        RELAY_MAIL_TLS_KEY: tlsKey,
      }));
    await named(cert, cert, key);
    await assert.rejects(named(join(dir, "no"), cert, key), /^ConfigError: RELAY_SMTP_CA names/);
    await assert.rejects(named(dir, cert, key), /RELAY_SMTP_CA names a file that cannot be read/);
    await assert.rejects(named(cert, key, key), /RELAY_MAIL_TLS_CERT must name a PEM file/);
    await assert.rejects(named(cert, cert, cert), /RELAY_MAIL_TLS_KEY must name a PEM file/);
    await checkNamedFiles(parseMailConfig({}));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
