/** Whether all terms stand in a message, and the words around them (docs/mail.md, "Searching"). */
import type { Blobs } from "../../base/blobs/blobs.ts";
import type { SliceClock } from "../../base/slices/slice_clock.ts";
import type { ShownHead } from "../reading/parsed/encoded_texts.ts";
import type { MessageRow } from "../records/message_record.ts";
import { type Highlights, highlightsOf, MAX_FRAGMENTS } from "./highlights.ts";
import { begunText, namesOf, readWholeText } from "./searched_text.ts";
import type { Span, TermMatcher } from "./term_matcher.ts";

/** What of a message is matched; plain data. */
export type MatchedMessage = Pick<
  MessageRow,
  "subject" | "from" | "to" | "cc" | "attachments" | "textSource" | "blob"
>;

export function matchedMessage(row: MessageRow): MatchedMessage {
  const { subject, from, to, cc, attachments, textSource, blob } = row;
  return { subject, from, to, cc, attachments, textSource, blob };
}

/**
 * @param slices lets others run between two steps
 * @returns null where a term is missing
 */
export async function matchMessage(
  { blobs, matcher, slices }: {
    blobs: Pick<Blobs, "read">;
    matcher: TermMatcher;
    slices: SliceClock;
  },
  message: MatchedMessage,
  head: ShownHead | null,
): Promise<Highlights | null> {
  matcher.begin();
  const take = async (text: string, enough: number): Promise<Span[]> => {
    const steps = matcher.take(text, enough);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (slices.isOver) await slices.next();
    }
  };
  const subject = message.subject ?? "";
  const names = namesOf(message);
  const begun = begunText(message, head);
  const { isCut } = begun;
  let { text } = begun;
  if (slices.isOver) await slices.next();
  if (!isCut && !matcher.mayHold([subject, ...names, text])) return null;
  const inSubject = await take(subject, 1);
  for (const field of names) await take(field, 0);
  let inText = await take(text, MAX_FRAGMENTS);
  if (isCut && !matcher.hasAll) {
    const whole = await readWholeText({ blobs }, message);
    slices.begin();
    if (whole !== null) {
      text = whole;
      inText = await take(text, MAX_FRAGMENTS);
    }
  }
  if (slices.isOver) await slices.next();
  return matcher.hasAll
    ? highlightsOf({ subject, text }, { subject: inSubject, text: inText })
    : null;
}
