/**
 * Where the content of a message ends, and what it is without the dots that SMTP adds (RFC 5321,
 * section 4.5.2). Only CRLF ends a line, so that nothing in a message is taken for its end
 * (docs/adr/0063). Pure.
 */

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;

/** What has come last: the end of a line, something else, or a CR. */
const LINE_START = 0;
const TEXT = 1;
const AFTER_CR = 2;
/** A dot that began a line, and is not of the message; and a CR behind it. */
const AFTER_DOT = 3;
const AFTER_DOT_CR = 4;

const LONE_CR = Uint8Array.of(CR);

export class SmtpContent {
  #at: number = LINE_START;
  #isMalformed = false;

  /** Whether a NUL came, or a CR or LF alone. */
  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /**
   * Reads on.
   * @param emit given what of the piece is of the message, in parts of the piece
   * @returns how many bytes of the piece are of the content, its end included; null where all are, and
   * the end has not come
   */
  take(piece: Uint8Array, emit: (part: Uint8Array) => void): number | null {
    let begin = 0;
    let at = this.#at;
    const { length } = piece;
    for (let index = 0; index < length; index++) {
      // What matters in a line is no greater than CR.
      if (at === TEXT) { while (index < length && piece[index]! > CR) index++; }
      if (index === length) break;
      const byte = piece[index]!;
      switch (at) {
        case LINE_START:
          if (byte === DOT) {
            if (index > begin) emit(piece.subarray(begin, index));
            begin = index + 1;
            at = AFTER_DOT;
            continue;
          }
          break;
        case AFTER_CR:
          if (byte === LF) {
            at = LINE_START;
            continue;
          }
          this.#isMalformed = true;
          break;
        case AFTER_DOT:
          if (byte === CR) {
            begin = index + 1;
            at = AFTER_DOT_CR;
            continue;
          }
          break;
        case AFTER_DOT_CR:
          if (byte === LF) {
            this.#at = LINE_START;
            return index + 1;
          }
          this.#isMalformed = true;
          emit(LONE_CR);
          begin = index;
          break;
      }
      if (byte === CR) at = AFTER_CR;
      else {
        at = TEXT;
        if (byte === LF || byte === NUL) this.#isMalformed = true;
      }
    }
    if (length > begin) emit(piece.subarray(begin));
    this.#at = at;
    return null;
  }
}
