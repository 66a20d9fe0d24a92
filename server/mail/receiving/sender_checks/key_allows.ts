/** What a published key says of its own use (RFC 6376, 3.6.1); its value the library reads. Pure. */
import type { SignatureTags } from "./signature_tags.ts";

/**
 * Whether a key may stand behind a signature with SHA-256: by the hashes it accepts (`h=`), by the
 * services it is for (`s=`), and by its flag against subdomains (`t=s`). A key that is being tested
 * (`t=y`) counts as any other: who has it has signed, and a signature that fails costs no mail anything
 * that an unsigned one has.
 *
 * @param record the text, its chunks joined
 * @returns false too for a tag that comes twice, for such a list is none (3.2)
 */
export function keyAllows(
  record: string,
  { domain, identityDomain }: Pick<SignatureTags, "domain" | "identityDomain">,
): boolean {
  const tags = new Map<string, string>();
  for (const part of record.split(";")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    if (tags.has(name)) return false;
    tags.set(name, part.slice(equals + 1));
  }
  const items = (name: string, byDefault: string) =>
    (tags.get(name) ?? byDefault).replace(/\s/g, "").toLowerCase().split(":");
  const services = items("s", "*");
  return items("h", "sha256").includes("sha256") &&
    (services.includes("*") || services.includes("email")) &&
    (!items("t", "").includes("s") || identityDomain === domain);
}
