/** Where a signature begins. Pure; linear. */

/** RFC 3676, section 4.3; without its space only near the end, for it may be a line of dashes. */
const DELIMITER = /^--[ \u00a0]\s{0,9}$/;
const BARE_DELIMITER = /^--\s{0,9}$/;
/** How many lines with text may stand below what is no more than a hint. */
const LINES_BELOW_BARE = 12;
const LINES_BELOW_DEVICE = 3;
/** A line that a telephone or a program adds has no more characters. */
const MAX_DEVICE_CHARACTERS = 120;

const DEVICE = new RegExp(
  `^\\s{0,9}(?:${
    [
      "(?:Sent|Composed|Typed|Written) (?:from|via|with|using|by|on) \\S.*|Get Outlook for \\S.*",
      "Von mein\\S{1,4} .{1,60} gesendet|Gesendet (?:von|mit|über|aus) \\S.*",
      "Envoyé (?:de|depuis|avec|via|à partir d)\\S?.*|Télécharger Outlook pour \\S.*",
      "Enviado (?:desde|de|do|con|por|via|pelo|com) \\S.*|Enviada (?:do|pelo) \\S.*",
      "Inviato (?:da|dal|con|tramite) \\S.*|Verstuurd (?:vanaf|met|via) \\S.*|Verzonden (?:vanaf|met|via) \\S.*",
      "Skickat från \\S.*|Skickat med \\S.*|Sendt fra \\S.*|Sendt med \\S.*|Lähetetty \\S.*",
      "Wysłane? z \\S.*|Wysłano z \\S.*|Odesláno z \\S.*|Odoslané z \\S.*",
      "Отправлено (?:с|из) \\S.*|Надіслано з \\S.*|Изпратено от \\S.*",
      ".{1,60}(?:'?dan|'?den|umdan) gönderildi|Küldve .{1,60}|Trimis (?:de pe|din) \\S.*|Στάλθηκε από \\S.*",
      ".{1,60}から送信|发自我的.{1,60}|從我的.{1,60}傳送|从我的.{1,60}发送|나의 .{1,60}에서 보냄|.{1,60}에서 보냄",
      "נשלח מה?.{1,60}|أرسلت? من .{1,60}",
    ].join("|")
  })\\s{0,9}$`,
  "u",
);

/** The line that a signature begins with, `-- ` or one of a device; null where there is none. */
export function signatureLine(lines: readonly string[]): number | null {
  const delimiter = lines.findIndex((line) => line.length < 16 && DELIMITER.test(line));
  if (delimiter >= 0) return delimiter;
  let below = 0;
  let found: number | null = null;
  for (let i = lines.length - 1; i >= 0 && below <= LINES_BELOW_BARE; i--) {
    const line = lines[i]!;
    if (line.trim() === "") continue;
    if (line.length < 16 && BARE_DELIMITER.test(line)) return i;
    if (
      found === null && below <= LINES_BELOW_DEVICE && line.length <= MAX_DEVICE_CHARACTERS &&
      DEVICE.test(line)
    ) found = i;
    below++;
  }
  return found;
}
