/** What is there to read, as routes: a page or a text, in the folders and files of a name. */
import { z } from "@hono/zod-openapi";
import type { PublicRoute } from "../../base/description/declaration.ts";
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { pageRoute } from "../../base/pages/page_route.ts";

interface ReadingRoute<Services>
  extends Pick<PublicRoute<Services>, "path" | "id" | "summary" | "handle"> {
  description: string;
  /** Media types in which it is there. */
  types: readonly string[];
  /** What its segments name, where they vary. */
  segments?: Readonly<Record<string, string>>;
}

export function readingRoute<Services>(
  { description, types, segments, ...route }: ReadingRoute<Services>,
) {
  const params = Object.entries(segments ?? {}).map(([name, what]) =>
    [name, z.string().openapi({ description: what })] as const
  );
  return pageRoute<Services>({
    ...route,
    words: {
      description,
      ...(segments === undefined ? {} : {
        params: z.object(Object.fromEntries(params)),
        errors: { not_found: "there is nothing of this name" },
      }),
      answers: fixedAnswers("What is there.", types.map((type) => ({ type, schema: z.string() }))),
    },
  });
}
