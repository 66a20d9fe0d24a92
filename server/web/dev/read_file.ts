/** One attachment of a captured mail. What it imports reads no HTML: it is a module of the main thread. */
import { describeAttachment } from "../../mail/reading/mime/attachments.ts";
import { readShownParts } from "../../mail/reading/mime/shown_parts.ts";
import { walkParts } from "../../mail/reading/mime/walk_parts.ts";
import type { ParseWarning } from "../../mail/reading/parsed/parsed_mail.ts";
import { READ_LIMITS } from "./mail_content.ts";

export interface MailFile {
  filename: string | null;
  contentType: string;
  contentId: string | null;
  bytes: Uint8Array<ArrayBuffer>;
}

/** One attachment, read out of the whole message, in slices; null where it has none of this index. */
export async function readFile(
  raw: Uint8Array,
  index: number,
): Promise<MailFile | null> {
  const steps = fileSteps(raw, index);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

function* fileSteps(raw: Uint8Array, index: number) {
  const warnings = new Set<ParseWarning>();
  const parts = yield* walkParts(raw, READ_LIMITS, warnings);
  const part = readShownParts(parts).attachments[index];
  if (part === undefined) return null;
  const { attachment, bytes } = yield* describeAttachment(raw, part, index, warnings);
  const { filename, contentType, contentId } = attachment;
  return { filename, contentType, contentId, bytes: new Uint8Array(bytes) };
}
