import { CONTROLS } from "../http/fields/text_fields.ts";

/**
 * What a reader does not see, or what changes how its surroundings are read: controls, text
 * direction, invisible and tag characters, halves of surrogate pairs. Joiners stay: scripts and
 * emoji need them.
 */
const HIDDEN = new RegExp(
  `${CONTROLS.source}|[\\u00ad\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb` +
    `\\u{e0000}-\\u{e0fff}\\p{Surrogate}]`,
  "gu",
);

/**
 * Text of others with every hidden character as `\u{...}`, its code point in hexadecimal. What comes
 * back is not escaped for HTML: `html` does that.
 * @param keepsLines whether line breaks and tabs stay, as for `<pre>`
 */
export function visibleText(text: string, { keepsLines = false } = {}): string {
  const lines = keepsLines ? text.replaceAll("\r\n", "\n") : text;
  return lines.replaceAll(
    HIDDEN,
    (one) =>
      keepsLines && (one === "\n" || one === "\t")
        ? one
        : `\\u{${one.codePointAt(0)!.toString(16)}}`,
  );
}
