/** The certificate of the mail server, which may be replaced while it runs. */
import { createPublicKey, X509Certificate } from "node:crypto";
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
    try {
      const stamp = await stampOf(files);
      return new Certificate(files, log, { stamp, context: await readContext(files) });
    } catch {
      throw new ConfigError(
        "RELAY_MAIL_TLS_CERT",
        "must name a PEM certificate chain, and RELAY_MAIL_TLS_KEY the key of its first certificate",
      );
    }
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

/** @throws Error where certificate and key do not belong together: the library would find out at the handshake */
async function readContext({ certFile, keyFile }: Files): Promise<SecureContext> {
  const [cert, key] = await Promise.all([
    Deno.readTextFile(certFile),
    Deno.readTextFile(keyFile),
  ]);
  const [ofCertificate, ofKey] = [new X509Certificate(cert).publicKey, createPublicKey(key)]
    .map((publicKey) => publicKey.export({ type: "spki", format: "der" }));
  if (!ofCertificate!.equals(ofKey!)) throw new Error("the key is not the certificate's");
  return createSecureContext({ cert, key, minVersion: "TLSv1.2" });
}
