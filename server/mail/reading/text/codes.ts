/** One-time codes in a message, from what its reader sees. Pure; linear in its length. */
import {
  CODE_WORDS,
  OTHER_CODE_WORDS,
  OTHER_NUMBER_BEFORE,
  OTHER_NUMBER_BEHIND,
} from "./code_words.ts";
import type { FoundCode } from "../parsed/parsed_mail.ts";

/** Most codes that are listed of a message. */
export const MAX_CODES = 5;
/** How far a code may stand from a word that announces it, in UTF-16 units. */
const NEAR_CHARACTERS = 60;
/** What is read of a text: a code stands early in what was sent for it. */
const MAX_READ_CHARACTERS = 256 * 1024;
/** How many numbers near such a word are looked at. */
const MAX_EXAMINED = 2_000;
/** How much around a number says what it is. */
const AROUND_CHARACTERS = 40;

/** Marks for where a line may or must not break: invisible in a code. */
const BREAKS = /[\u00ad\u200b\u2060\ufeff]/g;
/** Addresses of pages and of people: numbers in them are no codes. */
const ADDRESSES = /(?:https?:\/\/|www\.)[^\s<>"]{1,4096}|[^\s<>@]{1,64}@[^\s<>@]{1,255}/gi;
/** What parts the groups of a code, one in a row. */
const PARTED = "[ \\u00a0\\u2009\\u202f\\u2010\\u2011-]";
/** Digits in groups, the larger number of groups first; single ones may stand in cells of a table. */
const GROUPS = [
  `[0-9](?:(?:${PARTED}|\\t)[0-9]){3,8}`,
  `[0-9]{1,4}(?:${PARTED}[0-9]{1,4}){2,7}`,
  `[0-9]{2,4}${PARTED}[0-9]{2,4}`,
];
/** 4 to 8 digits, alone or in groups, or 5 to 10 capitals and digits. */
const CANDIDATES = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:(?:G|FB)-)?(?:${
    GROUPS.join("|")
  }|[0-9]{4,8}|[A-Z0-9]{5,10})(?![\\p{L}\\p{N}_])`,
  "gu",
);
/** What a candidate is not preceded and not followed by: it would be a part of something larger. */
const LARGER_BEFORE = /(?:[\p{L}\p{N}_][.,:/@+&=\-–_']|[+#/@.]|[0-9][ )–-]{1,2}|[0-9]\) ?)$/u;
const LARGER_BEHIND = /^(?:[.,:/@&=\-–_'][\p{L}\p{N}]|[@/%]|[–-][0-9]| [0-9]{3}|\)[ -][0-9])/u;
/** Between a word and what it directly announces; each character can be read in one way alone. */
const DIRECTLY =
  /^(?:[\s:：=*"'“”«»„(\[#\-–—>|]|(?<!\p{L})(?:is|ist|lautet|est|es|é|è|er|är|on|jest|je|to|it|you|now|here|este|адрес|это|은|는|이|가|は|が|是|为|為)(?!\p{L}))*$/iu;
/** How "... is your code" and "...: your code" go on. */
const IS_NAMED = /^\s{1,3}(?:is|ist|est|es|é|è|är|er)\s|^\s?[-–—:]\s/iu;
const YEARS = /^(?:19|20)\d\d$/;
const MONTHS =
  /(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez|ene|abr|ago|dic|fév|avr|aoû|déc|gen|mag|giu|lug|set|ott|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек)\p{L}{0,8}\.?,?\s(?:\d{1,2},?\s)?$/iu;
/** Names and measures that have the form of a code. */
const NAMES =
  /^(?:(?:ISO|SHA|AES|UTF|RFC|DIN|RTX|GTX|EN|IPV|COVID|MD|HTTP|TLS|SSL|USB|WPA|WEB|WIN|OFFICE|WINDOWS|PS|CVE|RSA|MP|H)\d+|[0-9]+(?:GB|MB|TB|KB|MIN|AM|PM|HRS?|USD|EUR|GBP|CHF|TH|ST|ND|RD|KM|KG|MG|PX|P|K|KHZ|MHZ|GHZ|W|V|MAH|DPI|X[0-9]+)|[A-Z]{2}[0-9]{2}|[0-9]{4}Q[1-4]|Q[1-4][0-9]{4})$/;
/** An American state and a number, or a number and a town. */
const STATE = /(?:^|[\s,])[A-Z]{2}\s$/;
const TOWN = /^\s\p{Lu}\p{Ll}/u;

/** A day in three groups. */
const DAY =
  /^(?:\d{4}\D\d{1,2}\D\d{1,2}|(?:[0-2]?\d|3[01])\D(?:0?\d|1[0-2])\D(?:\d\d){1,2}|(?:0?\d|1[0-2])\D(?:[0-2]?\d|3[01])\D(?:\d\d){1,2})$/;

/**
 * The codes of a message, in order, each once, at most five: 4 to 8 digits, between which a space or
 * hyphen may stand, or 5 to 10 capitals and digits with a digit, within 60 characters of a word of
 * code_words.ts. What is a part of a URL, an address, a date, a price, a telephone number or the like
 * is none. `value` is what is to be pasted: digits alone, without the space, hyphen or prefix (`G-`).
 * @param visibleText text without what is hidden
 */
export function findCodes(subject: string | null, visibleText: string): FoundCode[] {
  const text = toAscii(`${subject ?? ""}\n${visibleText.slice(0, MAX_READ_CHARACTERS)}`)
    .replaceAll(BREAKS, "").replaceAll(ADDRESSES, blank).replaceAll(OTHER_CODE_WORDS, blank);
  const words = [...text.matchAll(CODE_WORDS)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }));
  const codes = new Map<string, FoundCode>();
  let next = 0;
  let examined = 0;
  for (const { 0: found, index } of text.matchAll(CANDIDATES)) {
    const end = index + found.length;
    while (next < words.length && words[next]!.end + NEAR_CHARACTERS < index) next++;
    const near: typeof words = [];
    for (let i = next; i < words.length && words[i]!.start <= end + NEAR_CHARACTERS; i++) {
      near.push(words[i]!);
    }
    if (near.length === 0) continue;
    if (++examined > MAX_EXAMINED) break;
    const isAnnounced = near.some((word) =>
      word.end <= index && DIRECTLY.test(text.slice(word.end, index))
    );
    const isNamed = IS_NAMED.test(text.slice(end, end + 8));
    const code = codeOf(found);
    const before = text.slice(Math.max(0, index - AROUND_CHARACTERS), index);
    const behind = text.slice(end, end + AROUND_CHARACTERS);
    const isLonger = /[0-9][^0-9][0-9]/.test(found) && /^[ -][0-9]/.test(behind);
    if (
      code === null || isLonger || isOtherGroups(found, isAnnounced || isNamed) ||
      isSomethingElse(code, before, behind, isAnnounced, isNamed)
    ) {
      continue;
    }
    if (!codes.has(code.value)) codes.set(code.value, code);
    if (codes.size === MAX_CODES) break;
  }
  return [...codes.values()];
}

function codeOf(found: string): FoundCode | null {
  const digits = found.replace(/^(?:G|FB)-/, "").replaceAll(/[^A-Z0-9]/g, "");
  if (/^[0-9]{4,8}$/.test(digits)) return { value: digits, kind: "numeric" };
  const isCode = /^(?=.*[0-9])(?=.*[A-Z])[A-Z0-9]{5,10}$/.test(found) && !NAMES.test(found);
  return isCode ? { value: found, kind: "alphanumeric" } : null;
}

/**
 * Whether digits in three groups or more are something else: a day, a telephone number, a row of steps.
 * @param isDirect whether a word stands directly at them
 */
function isOtherGroups(found: string, isDirect: boolean): boolean {
  const groups = found.match(/[0-9]+/g) ?? [];
  if (groups.length < 3 || /[A-Z]/.test(found)) return false;
  const isRow = groups.every((group, i) => Number(group) === Number(groups[0]) + i);
  if (isRow) return groups[0]!.length === 1;
  if (isDirect) return false;
  const isEven = groups.every(({ length }) => length === groups[0]!.length);
  return !isEven || DAY.test(found) || groups.length === 4 && groups[0]!.length === 2;
}

/**
 * @param isAnnounced whether a word stands directly before it
 * @param isNamed whether it is followed as "... is your code" does
 */
function isSomethingElse(
  { value, kind }: FoundCode,
  before: string,
  behind: string,
  isAnnounced: boolean,
  isNamed: boolean,
): boolean {
  // A colon belongs to the word where one stands before it: "Code:4711".
  const isPart = LARGER_BEFORE.test(before) && !(isAnnounced && before.endsWith(":"));
  if (isPart || LARGER_BEHIND.test(behind)) return true;
  if (OTHER_NUMBER_BEHIND.test(behind) || /[#$€£¥₹₽₩№]\s?$/u.test(before)) return true;
  if (!isAnnounced && OTHER_NUMBER_BEFORE.test(before)) return true;
  if (kind === "alphanumeric") return false;
  const isDirect = isAnnounced || isNamed;
  if (YEARS.test(value) && (!isDirect || /^\s?:/.test(behind) || /©|\(c\)/i.test(before))) {
    return true;
  }
  if (MONTHS.test(before)) return true;
  return value.length === 5 && !isDirect && (STATE.test(before) || TOWN.test(behind));
}

/** Full-width digits and capitals as the common ones; each stays one UTF-16 unit. */
function toAscii(text: string): string {
  return text.replaceAll(
    /[\uff10-\uff19\uff21-\uff3a]/g,
    (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0),
  );
}

function blank(found: string): string {
  return "\u00b7".repeat(found.length);
}
