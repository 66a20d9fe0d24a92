/**
 * Text that is safe to print on a terminal, whoever wrote it: control characters, line breaks and
 * characters that change the direction of writing are escaped.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}

/** Cc, Cf (bidi controls among them), line and paragraph separators, lone surrogates. */
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
