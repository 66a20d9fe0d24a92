/** What somebody wrote, without the former messages quoted below it. Pure; linear. */

export function extractText(text: string): string {
  const lines = text.split("\n");
  let end = lines.findIndex((line) => /^\s*-{5}\s*Original Message\s*-{5}/i.test(line));
  if (end < 0) end = lines.length;
  while (end > 0 && /^\s*(?:>.*)?$/.test(lines[end - 1]!)) end--;
  const own = lines.slice(0, end).join("\n").trim();
  return own === "" ? text : own;
}
