/** The tags of a DKIM-Signature that decide whether it can be checked (RFC 6376, 3.5). Pure. */

export interface SignatureTags {
  /** `d=`, lowercased. */
  domain: string;
  /** `s=` */
  selector: string;
  /** Domain of `i=`, lowercased: `d=`'s, which a missing one defaults to, or one below it. */
  identityDomain: string;
  /** `h=`, lowercased. */
  signedNames: readonly string[];
  bodyForm: "simple" | "relaxed";
  /** `l=`, how much of the body's form is signed; null for all of it. */
  signedBytes: number | null;
}

/** Longer values would take the library time that grows with the square of their length. */
const MAX_VALUE_CHARACTERS = 4_096;
const MAX_SIGNED_FIELDS = 300;
const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Reads a field's value, unfolded.
 *
 * @returns null for what is permanently no valid signature: a required tag is missing, a tag comes
 * twice, From is not signed, the identity is of another domain, or the hash is SHA-1 (RFC 8301)
 */
export function readSignatureTags(value: string): SignatureTags | null {
  const tags = readTagList(value);
  if (tags === null) return null;
  const domain = tags.get("d")?.toLowerCase() ?? "";
  const selector = tags.get("s")?.toLowerCase() ?? "";
  const fields = tags.get("h")?.toLowerCase().split(":") ?? [];
  const form = /^(?:simple|relaxed)(?:\/(simple|relaxed))?$/.exec(
    tags.get("c")?.toLowerCase() ?? "simple",
  );
  const identityDomain = domainOfIdentity(tags.get("i"), domain);
  const isValid = tags.get("v") === "1" &&
    /^(?:rsa|ed25519)-sha256$/.test(tags.get("a")?.toLowerCase() ?? "") &&
    NAME.test(domain) && NAME.test(selector) && form !== null &&
    fields.length <= MAX_SIGNED_FIELDS && fields.includes("from") &&
    (tags.get("b") ?? "") !== "" && (tags.get("bh") ?? "") !== "" &&
    identityDomain !== null && /^\d{1,15}$/.test(tags.get("l") ?? "0");
  if (!isValid) return null;
  const length = tags.get("l");
  return {
    domain,
    selector,
    identityDomain,
    signedNames: fields,
    bodyForm: form[1] === "relaxed" ? "relaxed" : "simple",
    signedBytes: length === undefined ? null : Number(length),
  };
}

/** A list of tags (RFC 6376, 3.2), their values without white space; null for what is none. */
export function readTagList(value: string): Map<string, string> | null {
  // Comments and quotes have no place in it, and the library reads them in ways of its own.
  if (value.length > MAX_VALUE_CHARACTERS || /[()"'\\]/.test(value)) return null;
  const tags = new Map<string, string>();
  for (const part of value.split(";")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    if (!/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return null;
    tags.set(name, part.slice(equals + 1).replace(/\s/g, ""));
  }
  return tags;
}

/** What `i=` names, which need not be there; null where that is neither the signing domain nor below it. */
function domainOfIdentity(identity: string | undefined, domain: string): string | null {
  if (identity === undefined) return domain;
  const named = identity.slice(identity.lastIndexOf("@") + 1).toLowerCase();
  const isOf = named === domain || named.endsWith(`.${domain}`);
  return identity.includes("@") && isOf ? named : null;
}
