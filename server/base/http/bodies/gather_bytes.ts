/**
 * Streams gathered as they come: thousands of tiny pieces take no more room than a few large ones.
 */
import { SliceClock } from "../../slices/slice_clock.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Called with how many bytes came; false leaves the stream where it is. */
type Accept = (bytes: number) => boolean;

const FIRST_BYTES = 4096;
const NEXT_BYTES = 32_768;

/**
 * A small stream of known size. The runtime hands out each piece in a buffer of 64 KiB.
 * @param sizeBytes what will come at most
 * @returns null where the stream was left
 */
export async function gatherSmall(
  reader: Pick<ReadableStreamDefaultReader<Bytes>, "read">,
  sizeBytes: number,
  accept: Accept,
): Promise<Bytes | null> {
  const whole = new Uint8Array(sizeBytes);
  let cameBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return cameBytes === sizeBytes ? whole : whole.slice(0, cameBytes);
    if (!accept(value.byteLength)) return null;
    whole.set(value, cameBytes);
    cameBytes += value.byteLength;
  }
}

/**
 * A stream that holds already all that will come of it, in few pieces.
 * @returns null where the stream was left
 */
export async function gatherHeld(
  reader: Pick<ReadableStreamDefaultReader<Bytes>, "read">,
  accept: Accept,
): Promise<Bytes | null> {
  const pieces: Bytes[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces.length === 1 ? pieces[0]! : await joinInSlices(pieces);
    if (!accept(value.byteLength)) return null;
    pieces.push(value);
  }
}

/**
 * A stream of any size, read into buffers that are filled to the brim: one that stalls takes a third
 * of the memory that gatherSmall() takes, one that comes at once up to four times its time.
 * @returns null where the stream was left
 */
export async function gatherLarge(
  reader: Pick<ReadableStreamBYOBReader, "read">,
  accept: Accept,
): Promise<Bytes | null> {
  const full: Bytes[] = [];
  let buffer = new ArrayBuffer(FIRST_BYTES);
  let filledBytes = 0;
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(buffer, filledBytes));
    // Without a value it was cancelled.
    if (value === undefined || !(done || accept(value.byteLength))) return null;
    buffer = value.buffer; // the one passed in has been detached
    if (done) break;
    filledBytes += value.byteLength;
    if (filledBytes < buffer.byteLength) continue;
    full.push(new Uint8Array(buffer));
    buffer = new ArrayBuffer(NEXT_BYTES);
    filledBytes = 0;
  }
  return await joinInSlices([...full, new Uint8Array(buffer, 0, filledBytes)]);
}

/** One piece of many. New memory for 25 MiB takes time to be had. */
export async function joinInSlices(pieces: readonly Bytes[]): Promise<Bytes> {
  const clock = new SliceClock();
  const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    if (clock.isOver) await clock.next();
    whole.set(piece, offset);
    offset += piece.byteLength;
  }
  return whole;
}
