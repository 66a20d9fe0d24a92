/** What the pages for mail show, as plain values: whoever fills them says nothing of HTML. */
import type { Html } from "../../base/pages/elements.ts";

export type Tone = "plain" | "ok" | "warn" | "bad";

/** A word in a tint; the word says it, the tint repeats it. */
export interface Chip {
  word: string;
  tone: Tone;
}

/** A row of the list: a thread, a message or a captured mail. */
export interface MailLine {
  /** Unique on its page. */
  href: string;
  who: string;
  subject: string | null;
  preview: string;
  atMs: number;
  isUnread: boolean;
  /** Whether it is the one that the pane shows. */
  isChosen: boolean;
  /** Messages of a thread; 1 is not shown. */
  count: number;
  code: string | null;
  hasAttachments: boolean;
  chips: readonly Chip[];
  /** In place of the preview, with what was sought marked. */
  found?: Html;
}

/** A link at the left: an inbox or a view. */
export interface Place {
  href: string;
  label: string;
  isChosen: boolean;
  /** Not shown at 0. */
  count: number;
}

export interface PlaceGroup {
  label: string;
  places: readonly Place[];
}

export interface Person {
  name: string | null;
  address: string;
}

/** A name that is written as an address. */
const AS_ADDRESS = /[@\ufe6b\uff20]/;
/** What of a name has no look, or that of a space. */
const BLANK = /[\s\p{C}\u115f\u1160\u2800\u3164\uffa0]/gu;

/**
 * What somebody is called where there is room for one word: anybody gives themselves any name, so that one which
 * says another address, or nothing, is not shown without the address. Pure.
 */
export function calledName({ name, address }: Person): string {
  const isTelling = name !== null && !AS_ADDRESS.test(name) && name.replaceAll(BLANK, "") !== "";
  return isTelling ? name : address;
}

export interface ShownFile {
  name: string | null;
  type: string;
  sizeBytes: number;
  href: string;
}

export interface StatusStep {
  word: string;
  tone: Tone;
  /** Null where it is not known. */
  atMs: number | null;
}

export interface ShownRecipient {
  address: string;
  /** Oldest first; the last is how it stands. */
  steps: readonly StatusStep[];
  /** What the other side said; null where nothing. */
  detail: string | null;
}

/** What is said of the sender, in words. */
export interface SenderVerdict extends Chip {
  /** How that was found: one soft line. */
  details: string;
}

export interface MailHtml {
  /** Address of the HTML, which answers under a policy of its own, and lists what it would have loaded. */
  src: string;
  /** About as high as it will be: nobody outside the frame can ask it. */
  heightPx: number;
}

/** A message in the pane. */
export interface MailShown {
  /** Unique on its page, of [A-Za-z0-9_-]. */
  id: string;
  from: Person | null;
  to: readonly Person[];
  cc: readonly Person[];
  bcc: readonly Person[];
  atMs: number;
  /** Null for what was sent from here. */
  verdict: SenderVerdict | null;
  chips: readonly Chip[];
  /** What a reader has to know before the text, each a sentence. */
  warnings: readonly string[];
  codes: readonly string[];
  text: string | null;
  /** Where the whole text is; null where this is all of it. */
  wholeHref: string | null;
  html: MailHtml | null;
  links: readonly string[];
  files: readonly ShownFile[];
  recipients: readonly ShownRecipient[];
  /** Decoded header fields; null where nobody has asked for them. */
  headers: readonly (readonly [name: string, value: string])[] | null;
  headersHref: string | null;
  /** The source, as text. */
  rawHref: string | null;
  /** Whether it is shown open; of several all but the last are closed. */
  isOpen: boolean;
  /** Buttons about this one message, below it. */
  actions?: Html;
}
