/** Refusals for keys that may not read (docs/mail.md, "Keys that only write"). */
import { type ErrorCode, RelayError } from "../../base/errors.ts";

/** What names addresses; here the caller has given none of them. */
const WORDS: { readonly [Code in ErrorCode]?: string } = {
  recipient_suppressed:
    "nothing was sent: mail to a recipient bounced, or was complained about; a key with inbox:read is told to which",
  recipient_not_allowed:
    "nothing was sent: this inbox writes to those on its allow_send list alone, which a recipient is not on; a key with inbox:read is told which",
};

/** Does what sends; where it is refused, the refusal names no address. */
export async function hideRecipients<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const words = error instanceof RelayError ? WORDS[error.code] : undefined;
    if (words === undefined) throw error;
    throw new RelayError((error as RelayError).code, words);
  }
}
