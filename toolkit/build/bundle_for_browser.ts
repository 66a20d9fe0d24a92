import { join } from "node:path";
import { runDeno } from "./run_deno.ts";

/**
 * Bundles a module and all that it imports into one minified file that a browser loads.
 *
 * @param root the folder of the repository
 * @param entry a path from there
 * @param format `esm`: a module with the exports of the entry; `iife`: a plain script
 * @returns the JavaScript
 */
export async function bundleForBrowser(
  root: string,
  entry: string,
  format: "esm" | "iife" = "esm",
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "relay-bundle-" });
  try {
    const output = join(folder, "bundle.js");
    const options = ["--platform=browser", "--minify", `--format=${format}`, `--output=${output}`];
    await runDeno(root, ["bundle", ...options, entry]);
    return await Deno.readTextFile(output);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
