/** The certificate of the mail server, which may be replaced while it runs. */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { MailConfig } from "../../../base/config/mail_config.ts";
import { ConfigError } from "../../../base/config/values.ts";
import { describeFailure } from "../../../base/describe_failure.ts";
import type { Log } from "../../../base/log.ts";

type Files = NonNullable<MailConfig["tls"]>;

interface Read {
  /** What tells these files from later ones. */
  stamp: string;
  context: SecureContext;
}

/** Older runtimes cannot begin TLS on a stream: the handshake never ends. */
export const SERVES_STARTTLS = "getProtocol" in TLSSocket.prototype;

export class Certificate {
  /** Of files that could not be used: told once. */
  #failedStamp: string | null = null;

  private constructor(
    private readonly files: Files,
    private readonly log: Log,
    private read: Read,
  ) {}

  /** @throws ConfigError where the files cannot be used */
  static async open(files: Files, log: Log): Promise<Certificate> {
    const stamp = await stampOf(files).catch(() => "unreadable");
    return new Certificate(files, log, { stamp, context: await readContext(files) });
  }

  /** What a handshake is made with: of the files as they are now, or as they were when they could be used. */
  async current(): Promise<SecureContext> {
    const stamp = await stampOf(this.files).catch(() => "unreadable");
    if (stamp === this.read.stamp || stamp === this.#failedStamp) return this.read.context;
    try {
      const context = await readContext(this.files);
      this.read = { stamp, context };
      this.#failedStamp = null;
      this.log("smtp_certificate_loaded");
    } catch (error) {
      this.#failedStamp = stamp;
      this.log("smtp_certificate_refused", describeFailure(error));
    }
    return this.read.context;
  }
}

async function stampOf({ certFile, keyFile }: Files): Promise<string> {
  const stats = await Promise.all([Deno.stat(certFile), Deno.stat(keyFile)]);
  return stats.map(({ mtime, size, ino }) => `${mtime?.getTime()} ${size} ${ino}`).join(", ");
}

/** @throws ConfigError for files that cannot be used; the library would find some of it out at the handshake */
async function readContext({ certFile, keyFile }: Files): Promise<SecureContext> {
  const [cert, key] = await Promise.all([
    readPem("RELAY_MAIL_TLS_CERT", certFile),
    readPem("RELAY_MAIL_TLS_KEY", keyFile),
  ]);
  const ofCertificate = await usable(
    "RELAY_MAIL_TLS_CERT",
    "must name a PEM certificate chain",
    () => new X509Certificate(cert).publicKey,
  );
  const ofKey = await usable(
    "RELAY_MAIL_TLS_KEY",
    "must name a PEM private key without a passphrase",
    () => createPublicKey(createPrivateKey(key)),
  );
  const [one, other] = [ofCertificate, ofKey].map((publicKey) =>
    publicKey.export({ type: "spki", format: "der" })
  );
  if (!one!.equals(other!)) {
    throw new ConfigError(
      "RELAY_MAIL_TLS_KEY",
      "must name the key of the first certificate in RELAY_MAIL_TLS_CERT: this is another's",
    );
  }
  return await usable(
    "RELAY_MAIL_TLS_CERT",
    "must name a PEM certificate chain that TLS can be served with",
    () => createSecureContext({ cert, key, minVersion: "TLSv1.2" }),
  );
}

const readPem = (setting: string, file: string): Promise<string> =>
  usable(
    setting,
    "must name a file that the relay may read: look at its path and rights, and print the permissions again",
    () => Deno.readTextFile(file),
  );

/** @throws ConfigError with these words where it fails: what the library says may hold some of a key */
async function usable<T>(setting: string, words: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch {
    throw new ConfigError(setting, words);
  }
}
