import { joinBytes } from "../node/read_file.ts";

/** What a relay takes of one message, unless its operator says otherwise. */
export const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;

/** A message has more bytes than a relay takes. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";

  constructor() {
    super(`the message has over ${MAX_MESSAGE_BYTES} bytes, more than a relay takes`);
  }
}

/**
 * A message as a mail server pipes it, without the `From ` line of mailboxes that some put before it.
 *
 * @throws {MessageTooLarge} as soon as it is; the rest is not read
 */
export async function readMessage(
  chunks: AsyncIterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> {
  const read: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_MESSAGE_BYTES + MAX_SEPARATOR_BYTES) throw new MessageTooLarge();
    read.push(chunk);
  }
  const message = withoutSeparator(joinBytes(read) as Uint8Array<ArrayBuffer>);
  if (message.length > MAX_MESSAGE_BYTES) throw new MessageTooLarge();
  return message;
}

const MAX_SEPARATOR_BYTES = 1024;
const LF = 10;

/** `From sender date` is the separator of mailbox files (RFC 4155); a header has a colon behind From. */
function withoutSeparator(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const isSeparator = new TextDecoder("latin1").decode(message.subarray(0, 5)) === "From ";
  const end = isSeparator ? message.subarray(0, MAX_SEPARATOR_BYTES).indexOf(LF) : -1;
  return end < 0 ? message : message.subarray(end + 1);
}
