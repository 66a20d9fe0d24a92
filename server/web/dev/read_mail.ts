/** A captured mail as its pages show it: what the relay's own reader finds in it. */
import { parseInStages } from "../../mail/reading/parse_mail.ts";
import { applyPatch, emptyParsedMail } from "../../mail/reading/parsed/parsed_patch.ts";
import type { MailAddress, ParsedMail } from "../../mail/reading/parsed/parsed_mail.ts";
import {
  type MailContent,
  type MailParts,
  type MailPerson,
  READ_BYTES,
  READ_LIMITS,
} from "./mail_content.ts";

/** So much of the text is shown. */
const SHOWN_CHARACTERS = 100_000;
const LINE_CHARACTERS = 998;
const MAX_ATTACHMENTS = 50;
const MAX_LINKS = 20;

/** Reads the beginning of a message (RFC 5322), in slices between which whatever else waits runs. */
export async function readMail(raw: Uint8Array): Promise<MailContent> {
  const steps = readInSteps(raw);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** The same, which yields null where others may run. */
export function* readInSteps(raw: Uint8Array): Generator<null, MailContent> {
  const mail = emptyParsedMail();
  const context = { envelopeFrom: "", limits: READ_LIMITS };
  for (const patch of parseInStages(raw.subarray(0, READ_BYTES), context)) {
    if (patch !== null) applyPatch(mail, patch);
    else yield null;
  }
  const { facts, texts } = mail;
  const text = texts.text ?? "";
  const content = {
    from: facts.from === null ? "" : addressText(facts.from),
    to: line(facts.to.map(addressText).join(", ")),
    subject: line(facts.subject ?? ""),
    text: text.slice(0, SHOWN_CHARACTERS),
    isCut: raw.length > READ_BYTES || text.length > SHOWN_CHARACTERS,
    hasHtml: texts.html !== null,
    attachments: facts.attachments.slice(0, MAX_ATTACHMENTS).map(({ filename, contentType }) => ({
      filename: line(filename ?? ""),
      content_type: line(contentType),
    })),
    links: [...new Set(texts.links.map(({ url }) => url))].slice(0, MAX_LINKS),
    codes: facts.codes.map(({ value }) => value),
    parts: partsOf(mail),
  };
  return { ...content, sizeBytes: 2 * JSON.stringify(content).length };
}

const MAX_PEOPLE = 50;

function partsOf({ facts, texts }: ParsedMail): MailParts {
  const { from, to, cc, preview, attachments, hiddenTextRemoved, parseWarnings } = facts;
  const people = (list: MailAddress[]) => list.slice(0, MAX_PEOPLE).map(personOf);
  return {
    from: from === null ? null : personOf(from),
    to: people(to),
    cc: people(cc),
    preview,
    html: texts.html,
    fileSizes: attachments.slice(0, MAX_ATTACHMENTS).map(({ sizeBytes }) => sizeBytes),
    warnings: [
      ...hiddenTextRemoved
        ? ["Hidden text: parts of this mail are not shown to who reads it."]
        : [],
      ...parseWarnings.includes("alternatives_differ")
        ? ["What the plain text says is not what the HTML shows."]
        : [],
    ],
  };
}

function personOf({ name, address }: MailAddress): MailPerson {
  return { name: name === null ? null : line(name), address: line(address) };
}

function line(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, LINE_CHARACTERS);
}

function addressText({ name, address }: MailAddress): string {
  return line(name === null ? address : `${name} <${address}>`);
}
