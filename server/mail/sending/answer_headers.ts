/** What an answer and a forward say of the message they are about (RFC 5322, section 3.6.4). Pure. */
import type { MessageRow } from "../records/message_record.ts";
import { cleanLineOf } from "../composing/requests/clean_line_of.ts";
import { MAX_SUBJECT } from "../composing/requests/read_extras.ts";

const MAX_REFERENCES = 50;
/** What is kept of Message-IDs (docs/mail.md); brackets within would end them early. */
const MESSAGE_ID = /^[\x21-\x3b\x3d\x3f-\x7e]{1,250}$/;

export type SubjectPrefix = "Re:" | "Fwd:";

/** The subject of an answer or forward: it begins with the prefix, once, whatever its case. */
export function prefixedSubject(prefix: SubjectPrefix, subject: string | null): string {
  const line = cleanLineOf(subject ?? "", MAX_SUBJECT);
  if (line.toLowerCase().startsWith(prefix.toLowerCase())) return line;
  return cleanLineOf(`${prefix} ${line}`, MAX_SUBJECT);
}

/** Ids that a message refers to, without brackets. */
export interface MessageReferences {
  inReplyTo: string | null;
  references: string[];
}

/**
 * In-Reply-To and References of an answer or forward: the message's references, and its own id. The first
 * one is kept, since it names the thread, and the last ones.
 */
export function answerReferences(
  message: Pick<MessageRow, "rfcMessageId" | "inReplyTo" | "references">,
): MessageReferences {
  const former = message.references.length > 0
    ? message.references
    : message.inReplyTo === null
    ? []
    : [message.inReplyTo];
  const own = message.rfcMessageId;
  const all = [...former, ...(own === null ? [] : [own])].filter((id) => MESSAGE_ID.test(id));
  const ids = [...new Set(all)];
  const references = ids.length <= MAX_REFERENCES
    ? ids
    : [ids[0]!, ...ids.slice(1 - MAX_REFERENCES)];
  return { inReplyTo: own !== null && MESSAGE_ID.test(own) ? own : null, references };
}

/** Auto-Submitted of an answer: to automated mail it says what it is (RFC 3834, section 5). */
export function answerAutoSubmitted(
  { automated }: Pick<MessageRow, "automated">,
): "auto-replied" | null {
  return automated === "none" ? null : "auto-replied";
}
