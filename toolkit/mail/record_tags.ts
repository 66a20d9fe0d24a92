/**
 * The tags of a DKIM or DMARC record (RFC 6376, section 3.2).
 *
 * @param text such as `v=DKIM1; k=rsa; p=...`
 * @returns names in small letters, with their values as they stand; null where a name is there twice, or
 * what stands between semicolons is no `name=value`
 */
export function parseRecordTags(text: string): ReadonlyMap<string, string> | null {
  const tags = new Map<string, string>();
  const parts = text.split(";").map((part) => part.trim());
  if (parts.at(-1) === "") parts.pop();
  for (const part of parts) {
    const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)[ \t]*=[ \t]*([^]*)$/.exec(part) ?? [];
    if (name === undefined || tags.has(name.toLowerCase())) return null;
    tags.set(name.toLowerCase(), value!);
  }
  return tags;
}
