/** What somebody who reads a mail would click or copy. Pure; linear in the text's length. */
import { CONTROLS } from "../http/text_fields.ts";

const MAX_LINKS = 20;
const MAX_URL_CHARACTERS = 2_000;
const MAX_CODES = 5;
/** How far a code may stand from a word that announces it, in characters. */
const NEAR_CHARACTERS = 60;

/**
 * The links of a mail, each once, in the order of text and HTML part: http and https alone.
 * @param html HTML, of which the values of href attributes are read
 */
export function findLinks(text: string, html: string): string[] {
  const urls = new Set<string>();
  const candidates = [
    ...text.matchAll(/https?:\/\/[^\s<>"]+/gi).map(([url]) =>
      url.replace(/[).,;:!?'\]]{1,5}$/, "")
    ),
    ...html.matchAll(/href\s*=\s*["']?(https?:\/\/[^\s<>"']+)/gi).map(([, url]) => unescape(url!)),
  ];
  for (const url of candidates) {
    if (urls.size === MAX_LINKS) break;
    if (url.length > MAX_URL_CHARACTERS || CONTROLS.test(url) || !URL.canParse(url)) continue;
    urls.add(url);
  }
  return [...urls];
}

/** The entity that URLs need; others do not stand in them. */
function unescape(url: string): string {
  return url.replaceAll(/&(?:amp|#38|#x26);/gi, "&");
}

const ANNOUNCES = /\b(?:code|otp|pin|passcode|password|verification|verify|token)\b/gi;
/** 4 to 8 digits, or 5 to 10 capitals and digits with a digit. */
const CODE = /(?<![\w./@-])(?:[0-9]{4,8}|(?=[A-Z]{0,9}[0-9])[A-Z0-9]{5,10})(?![\w/@-])/g;

/** The codes of a text that stand near a word that announces one, each once. */
export function findCodes(text: string): string[] {
  const announced = [...text.matchAll(ANNOUNCES)].map(({ index }) => index);
  const codes = new Set<string>();
  let next = 0;
  for (const { 0: code, index } of text.matchAll(CODE)) {
    while (next < announced.length && announced[next]! < index - NEAR_CHARACTERS) next++;
    if (next < announced.length && announced[next]! <= index + code.length + NEAR_CHARACTERS) {
      codes.add(code);
    }
    if (codes.size === MAX_CODES) break;
  }
  return [...codes];
}
