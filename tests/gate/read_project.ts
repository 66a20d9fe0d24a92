import { join } from "node:path";
import { listProjectFiles } from "./project_files.ts";
import type { SourceFile } from "./text_rules.ts";

/** Every file of the project with its text. */
export async function readProject(root: string): Promise<SourceFile[]> {
  const paths = await listProjectFiles(root);
  return await Promise.all(paths.map(async (path) => ({
    path,
    // Bytes that are no UTF-8 (vectors, pictures) do not hide the text around them.
    text: new TextDecoder().decode(await Deno.readFile(join(root, path))),
  })));
}
