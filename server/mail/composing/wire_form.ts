/** The form that a message has to have to arrive as it was sent (RFC 5321, section 2.3.8; RFC 5322, 2.1.1). */

const MAX_LINE = 998;
const CR = 13;
const LF = 10;

/** Text with CRLF at the end of each line, whatever line ends it had. */
export function crlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}

/**
 * Checks a composed message: ASCII without NUL, line ends CRLF alone, no line over 998 octets, a line
 * end last. Receivers mend what is not so, which breaks its signature or lets it hold a second mail.
 * @throws TypeError which never is a sender's fault
 */
export function requireWireForm(message: Uint8Array): void {
  let lineStart = 0;
  for (let i = 0; i < message.length; i++) {
    const byte = message[i]!;
    if (byte > 13) {
      if (byte > 127) throw new TypeError(`a composed message holds byte ${byte}`);
      continue;
    }
    if (byte === 0) throw new TypeError("a composed message holds NUL");
    if (byte === CR && message[i + 1] !== LF) throw new TypeError("a composed message holds CR");
    if (byte !== LF) continue;
    if (message[i - 1] !== CR) throw new TypeError("a composed message holds LF");
    if (i - 1 - lineStart > MAX_LINE) throw new TypeError("a composed message has a long line");
    lineStart = i + 1;
  }
  if (lineStart !== message.length) throw new TypeError("a composed message lacks its last CRLF");
}
