import { X509Certificate } from "node:crypto";
import { isNamedBy } from "../mail/transport_records.ts";
import { differs, type Finding, FINE } from "../mail/check_records.ts";

const SOON_MS = 14 * 86_400_000;

/**
 * Looks whether the certificate of a mail server is for its names, and for now.
 *
 * @param pem the chain; the first is looked at
 * @param hosts in small letters
 * @param nowMs Unix milliseconds
 * @throws Error for what is no certificate
 */
export function checkCertificate(pem: string, hosts: readonly string[], nowMs: number): Finding {
  const { subjectAltName = "", validFrom, validTo } = new X509Certificate(pem);
  const names = subjectAltName.split(/, */).flatMap((name) =>
    /^DNS:(.*)$/.exec(name)?.[1]?.toLowerCase() ?? []
  );
  const unnamed = hosts.filter((host) => !names.some((name) => isNamedBy(name, host)));
  if (unnamed.length > 0) {
    return differs(`it is for ${names.join(", ") || "no name"}, not for ${unnamed.join(", ")}`);
  }
  const [fromMs, endMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (nowMs < fromMs) return differs(`it is valid from ${validFrom} on`);
  if (nowMs >= endMs) return differs(`it ended on ${validTo}`);
  return endMs - nowMs > SOON_MS ? FINE : differs(`it ends on ${validTo}`);
}
