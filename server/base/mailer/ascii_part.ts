/**
 * A part of a mail that is sent unchanged: all of it is ASCII, and links stay whole for readers of the
 * raw mail.
 * @param type such as "text/plain"
 */
export function asciiPart(type: string, content: string): string {
  const headers = `Content-Type: ${type}; charset=utf-8\nContent-Transfer-Encoding: 7bit\n\n`;
  return (headers + content).replaceAll("\n", "\r\n");
}
