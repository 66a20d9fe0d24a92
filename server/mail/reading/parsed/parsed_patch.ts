/** What a message's parsing has found so far, in steps: a parse that ends early keeps the steps before. */
import type { ParsedFacts, ParsedMail, ParsedTexts, ParseWarning } from "./parsed_mail.ts";

/** Found by one stage. Its warnings are added to the former ones; the rest takes their place. */
export interface ParsedPatch {
  facts?: Partial<Omit<ParsedFacts, "parseWarnings">>;
  texts?: Partial<ParsedTexts>;
  warnings?: ParseWarning[];
}

/** What a message says that could not be read at all. */
export function emptyParsedMail(): ParsedMail {
  return {
    facts: {
      from: null,
      replyTo: [],
      to: [],
      cc: [],
      subject: null,
      preview: "",
      signature: null,
      textSource: "none",
      attachments: [],
      rfcMessageId: null,
      inReplyTo: null,
      references: [],
      automated: "none",
      hiddenTextRemoved: false,
      parseWarnings: [],
      codes: [],
    },
    texts: { text: null, html: null, shown: null, extractedText: null, headers: {}, links: [] },
  };
}

/** Puts what a stage found into the message. */
export function applyPatch(mail: ParsedMail, { facts, texts, warnings = [] }: ParsedPatch): void {
  Object.assign(mail.facts, facts);
  Object.assign(mail.texts, texts);
  mail.facts.parseWarnings = [...new Set([...mail.facts.parseWarnings, ...warnings])];
}
