/**
 * The files that the page to try routes out loads. They are imported as modules, so that they are there
 * wherever the relay runs, and only when the page is first asked for (docs/adr/0032).
 */
import { fixContent, type FixedContent } from "../../base/http/answers/fixed_content.ts";

export type FileName = "swagger-ui-bundle.js" | "swagger-ui.css" | "try.js";
export type TryFiles = Readonly<Record<FileName, FixedContent>>;

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** Loads and compresses all files; callers keep what comes back. */
export async function loadTryFiles(): Promise<TryFiles> {
  const [bundle, style, client] = await Promise.all([
    import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "text" } }),
    import("swagger-ui-dist/swagger-ui.css", { with: { type: "text" } }),
    import("./try_client.js", { with: { type: "text" } }),
  ]);
  return {
    "swagger-ui-bundle.js": await fileOf(bundle, SCRIPT),
    "swagger-ui.css": await fileOf(style, STYLE),
    "try.js": await fileOf(client, SCRIPT),
  };
}

function fileOf(module: { default: unknown }, type: string): Promise<FixedContent> {
  // Source maps are not served: a reference to one would only be asked for in vain.
  const text = String(module.default).replace(/\n(\/\/|\/\*)# sourceMappingURL=.*\s*$/, "\n");
  return fixContent(text, type);
}
