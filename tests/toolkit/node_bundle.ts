import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Bundles a module of this repository into one file that Node.js runs as it is: Node 20 neither
 * strips types nor resolves the names of deno.json.
 *
 * @param entry a path from the root of the repository
 * @param folder where to put the bundle
 * @returns the path of the bundle
 */
export function bundleForNode(entry: string, folder: string): string {
  const output = join(folder, `${entry.replaceAll("/", "_")}.mjs`);
  const args = ["bundle", "--quiet", "--platform=deno", `--output=${output}`, join(ROOT, entry)];
  const { success, stderr } = new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).outputSync();
  if (!success) {
    throw new Error(`deno bundle ${entry} failed: ${new TextDecoder().decode(stderr)}`);
  }
  return output;
}
