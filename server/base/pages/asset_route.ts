/** GET /assets/{file}: what pages load. */
import { RelayError } from "../errors.ts";
import { answerFixed, fixContent, type FixedContent } from "../http/answers/fixed_content.ts";
import type { Route } from "../http/routes/route.ts";
import { ASSET_FILES } from "./asset_files.ts";

const HEADERS = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
};

/** Each file under its hashed name alone; the content is compressed when it is first asked for. */
export function assetRoute(): Route {
  const fixed = new Map<string, Promise<FixedContent>>();
  return {
    method: "GET",
    path: "/assets/{file}",
    cors: "none",
    async handle(c) {
      const { text, type, name } = ASSET_FILES.find(({ path }) => path === c.get("path")) ??
        unknownFile();
      const content = fixed.get(name) ?? fixContent(text, type);
      fixed.set(name, content);
      return answerFixed(c.req.raw, await content, HEADERS);
    },
  };
}

function unknownFile(): never {
  throw new RelayError(
    "not_found",
    "no page of this version loads a file of this name; load the page again",
  );
}
