import { differs, type Finding, FINE, missing } from "./finding.ts";
import { parseRecordTags } from "./record_tags.ts";

/**
 * Looks whether a published key verifies what a private key signs (RFC 6376, section 3.6.1).
 *
 * @param wanted the record that belongs to the private key
 * @param texts the TXT records at its name
 */
export function checkDkim(wanted: string, texts: readonly string[]): Finding {
  if (texts.length === 0) return missing("no key is published under this selector");
  if (texts.length > 1) {
    return differs(`${texts.length} TXT records stand there: receivers take any, or none`);
  }
  const tags = parseRecordTags(texts[0]!);
  const key = tags?.get("p");
  if (tags === null || key === undefined) return differs("what stands there is no DKIM record");
  if (key === "") return differs("the key is revoked: p= is empty");
  if (bare(key) !== parseRecordTags(wanted)!.get("p")) {
    return differs("another key is published, so that no signature verifies");
  }
  const refused = OTHERS.find(({ tag, takes }) => !takes(tags.get(tag)));
  if (refused !== undefined) {
    return differs(`${refused.tag}=${tags.get(refused.tag)} keeps signatures from counting`);
  }
  return listOf(tags.get("t")).includes("y")
    ? {
      ...FINE,
      why: "t=y says that the key is being tried out: receivers may take no account of it",
    }
    : FINE;
}

const OTHERS: readonly { tag: string; takes: (value: string | undefined) => boolean }[] = [
  { tag: "v", takes: (value) => value === undefined || value === "DKIM1" },
  { tag: "k", takes: (value) => value === undefined || value === "rsa" },
  { tag: "h", takes: (value) => value === undefined || listOf(value).includes("sha256") },
  {
    tag: "s",
    takes: (value) =>
      value === undefined || listOf(value).some((one) => /^(?:\*|email)$/.test(one)),
  },
];

function listOf(value: string | undefined): string[] {
  return (value ?? "").split(":").map((one) => one.trim());
}

/** White space may stand in it. */
function bare(base64: string): string {
  return base64.replaceAll(/[ \t\r\n]/g, "");
}
