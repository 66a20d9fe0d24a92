/** The beginning of a text, for lists. @param length in code points, the sign that something is left out among them */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const points = [...text];
  return points.length <= length ? text : `${points.slice(0, length - 1).join("")}…`;
}
