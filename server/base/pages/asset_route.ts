/** GET /assets/{file}: what pages load. */
import { z } from "@hono/zod-openapi";
import { publicRoute } from "../description/declaration.ts";
import { fixedAnswers } from "../description/fixed_answers.ts";
import { RelayError } from "../errors.ts";
import { answerFixed, fixContent } from "../http/answers/fixed_content.ts";
import { madeOnce } from "../bounds/made_once.ts";
import { ASSET_FILES } from "./asset_files.ts";

const HEADERS = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
};

/** Each file under its hashed name alone; the content is compressed when it is first asked for. */
export const readPageFile = publicRoute({
  method: "GET",
  path: "/assets/{file}",
  id: "readPageFile",
  tag: "Service",
  summary: "Files of all pages",
  addition: true,
  cors: "none",
  words: {
    description: "The stylesheet, the icon and the scripts that pages for people load. A name " +
      "never has two contents, so that it may be kept for ever.",
    params: z.object({
      file: z.string().openapi({ description: "A name that a page uses." }),
    }),
    answers: fixedAnswers(
      "The file.",
      ["text/css", "image/svg+xml", "text/javascript"].map((type) => ({
        type,
        schema: z.string(),
      })),
    ),
    errors: { not_found: "no page of this version loads such a file" },
  },
  handle() {
    const files = new Map(
      ASSET_FILES.map(({ path, text, type }) => [path, madeOnce(() => fixContent(text, type))]),
    );
    return async (c) => {
      const content = await files.get(c.get("path"))?.();
      if (content === undefined) {
        throw new RelayError(
          "not_found",
          "no page of this version loads a file of this name; load the page again",
        );
      }
      return answerFixed(c.req.raw, content, HEADERS);
    };
  },
});
