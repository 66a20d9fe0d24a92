import { joinBytes } from "../node/read_file.ts";

const LINE_FEED = 0x0a;

/**
 * Cuts a stream of bytes into lines, each with its line feed; memory holds one line at a time.
 *
 * @param chunks the stream
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let pending: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pending.push(chunk.subarray(start, end + 1));
      yield joinBytes(pending);
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.slice(start));
  }
  if (pending.length > 0) yield joinBytes(pending);
}
