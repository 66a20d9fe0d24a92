/** The answers of what stays the same while the relay runs: asked for with the tag in hand it is not sent again. */
import type { Answer, Content } from "./operation.ts";

const HEADERS = ["Cache-Control", "ETag", "Vary"] as const;

export function fixedAnswers(
  description: string,
  content: Content | readonly Content[],
): Readonly<Record<number, Answer>> {
  return {
    200: { description, headers: HEADERS, content },
    304: { description: "`If-None-Match` names what is there: nothing is sent.", headers: HEADERS },
  };
}
