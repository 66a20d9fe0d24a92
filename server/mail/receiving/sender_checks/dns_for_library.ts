/** The answers of DNS as the library takes them: records, or errors with the codes of `node:dns`. Pure. */
import { isSpfSyntax } from "./spf_syntax.ts";
import type { DnsAnswer, DnsRecord, RecordType } from "../../../../toolkit/mail/dns_message.ts";

/** What stands for the name of a client that has none: DNS need not be asked for it (RFC 6761, 6.4). */
export const NO_NAME = "unknown.invalid";

/** Never rejects. */
export type Lookup = (name: string, type: RecordType) => Promise<DnsAnswer>;

/** What the library calls with a name and a type; its types leave MX out. */
export type Resolve = (name: string, type?: string) => Promise<string[] | string[][]>;

const TYPES: readonly string[] = ["A", "AAAA", "MX", "PTR", "TXT"];
const MAX_NAME_CHARACTERS = 253;
/** Above it a text was cut (lookups.ts). */
const MAX_TEXT_CHARACTERS = 4_096;
/** Each expands to an address of a stranger's choice, and the library reads the result slowly. */
const MAX_SPF_MACROS = 32;
/** base64 of a key of 8,192 bits has 1,416. */
const MAX_KEY_CHARACTERS = 2_048;

/** For keys of signatures. */
export function keyResolver(lookup: Lookup): Resolve {
  return async (name, type) => {
    const records = await resolve(lookup, name, type, {});
    const [text] = records;
    const key = Array.isArray(text) ? /(?:^|;)\s*p\s*=([^;]*)/i.exec(text.join("")) : null;
    if (key !== null && key[1]!.length > MAX_KEY_CHARACTERS) {
      throw Object.assign(new Error("too long a key"), { code: "EINVALIDVAL" });
    }
    return records as string[][];
  };
}

/** For DMARC's records; one that is too long is none. */
export function policyResolver(lookup: Lookup): Resolve {
  return async (name, type) =>
    (await resolve(lookup, name, type, {})).filter((record) =>
      !Array.isArray(record) || record.join("").length <= MAX_TEXT_CHARACTERS
    ) as string[][];
}

/**
 * For SPF. The library takes an error without `spfResult` for no match, where it met it in another
 * domain's record.
 */
export function spfResolver(lookup: Lookup): Resolve {
  return async (name, type) => {
    const records = await resolve(lookup, name, type, {
      spfResult: { error: "temperror", text: "DNS failure" },
    });
    for (const record of records) {
      if (Array.isArray(record) && /^v=spf1(?: |$)/i.test(record.join(""))) requireSound(record);
    }
    return records as string[][];
  };
}

function requireSound(record: readonly string[]): void {
  const text = record.join("");
  const isShort = text.length <= MAX_TEXT_CHARACTERS &&
    text.split("%{").length <= MAX_SPF_MACROS + 1;
  if (isShort && isSpfSyntax(text)) return;
  throw Object.assign(new Error("no record of SPF"), {
    spfResult: { error: "permerror", text: "the record is too long, or not of the form" },
  });
}

/** @param marks of errors but those that say that there is nothing */
async function resolve(
  lookup: Lookup,
  name: string,
  type: string | undefined,
  marks: Record<string, unknown>,
): Promise<DnsRecord[]> {
  const asked = name.replace(/\.$/, "");
  const isAskable = TYPES.includes(type ?? "") && asked.length <= MAX_NAME_CHARACTERS &&
    !asked.endsWith(".invalid");
  const answer: DnsAnswer = isAskable
    ? await lookup(asked, type as RecordType)
    : { code: "ENOTFOUND" };
  if ("records" in answer) return answer.records;
  const { code } = answer;
  const isVoid = code === "ENOTFOUND" || code === "ENODATA";
  throw Object.assign(new Error(code), { code }, isVoid ? {} : marks);
}
