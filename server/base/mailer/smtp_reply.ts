/** A reply of an SMTP server (RFC 5321, section 4.2), taken apart. Pure. */

export interface SmtpReply {
  /** Three digits. */
  code: number;
  /** As in "5.1.1", where the server gave one (RFC 2034). */
  enhancedCode: string | null;
  /** What it said, as it came, without the codes; one line for each of the reply's. */
  text: string;
}

const LINE = /^([0-9]{3})(?:[ -]|$)(?:([245]\.[0-9]{1,3}\.[0-9]{1,3})(?=\s|$)[ \t]?)?/;

/** @returns null for what does not begin as a reply does */
export function parseSmtpReply(response: string): SmtpReply | null {
  const lines = response.split(/\r?\n/);
  const first = LINE.exec(lines[0]!);
  if (first === null) return null;
  let enhancedCode: string | null = null;
  const texts = lines.map((line) => {
    const begin = LINE.exec(line);
    enhancedCode ??= begin?.[2] ?? null;
    return begin === null ? line : line.slice(begin[0].length);
  });
  return { code: Number(first[1]), enhancedCode, text: texts.join("\n") };
}
