import { findNamedFiles, findTestsOf, listChangedFiles } from "./changed_tests.ts";
import { readImports } from "./module_graph.ts";
import { readProject } from "./read_project.ts";

/**
 * Test files that reach, by imports or by naming them, what differs from a revision.
 * @throws Error with git's words when there is no such revision, or no git
 */
export async function selectTests(root: string, revision: string): Promise<string[]> {
  const [changed, project] = await Promise.all([
    listChangedFiles(root, revision),
    readProject(root),
  ]);
  const paths = project.map(({ path }) => path);
  const files = new Set(paths);
  const imports = await readImports(root, paths.filter((path) => /\.tsx?$/.test(path)));
  const named = project.filter(({ path }) => /\.ts$/.test(path))
    .flatMap((file) => findNamedFiles(file, files));
  return findTestsOf(paths, [...imports, ...named], changed);
}
