/**
 * Prints the table of folders that the imports of the tree need now, for use when folders move. The table
 * is a decision, so read what has changed before you keep it:
 * `deno run -A tests/gate/write_folder_table.ts > t.ts && deno fmt t.ts && mv t.ts tests/gate/folder_table.ts`
 */
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { findCircles } from "./circles.ts";
import {
  crossingsOf,
  edgesOf,
  type FolderRow,
  foldersOf,
  type ImportedFiles,
  rowsOf,
  showersOf,
} from "./folder_rules.ts";
import { FOLDER_TABLE } from "./folder_table.ts";
import { readImports } from "./module_graph.ts";
import { listProjectFiles } from "./project_files.ts";

/**
 * The row of a folder that the imports below it need. Of a circle the imports between the fewest files
 * name a row after their own, which the gate refuses. A folder shows all where one of its name did, or where it is new and has folders inside.
 * @param former the table until now
 */
export function writeFolderTable(
  root: string,
  { files, imports }: ImportedFiles,
  former: FolderRow,
): FolderRow {
  const folders = foldersOf(root, files);
  const places = Map.groupBy(crossingsOf(root, imports), ({ place }) => place);
  const formerRows = rowsOf(root, former);
  const shown = new Map<string, Set<string>>();

  function rowOf(path: string): FolderRow {
    const crossings = places.get(path) ?? [];
    const edges = edgesOf(crossings);
    const lawful = untie(edges);
    const isGround = lawful.some(([, owner]) => owner === ".");
    for (const crossing of crossings) {
      if (crossing.importer === "." && !isGround) continue;
      for (const { folder, file } of showersOf(crossing)) {
        if (!shown.has(folder)) shown.set(folder, new Set());
        shown.get(folder)!.add(file);
      }
    }
    const names = folders.filter((folder) => posix.dirname(folder) === path)
      .map((folder) => posix.basename(folder));
    const floorOf = (name: string): number =>
      1 + Math.max(-1, ...ownersOf(name, lawful).map(floorOf));
    const inside = [...isGround ? ["."] : [], ...names].map((name) => {
      const imported = [...new Set(ownersOf(name, edges))];
      const row = name === "." ? {} : rowOf(`${path}/${name}`);
      return [name, { ...imported.length > 0 && { imports: imported }, ...row }] as const;
    }).sort(([a], [b]) => floorOf(a) - floorOf(b));
    return {
      ...showsOf(path, names.length > 0),
      ...inside.length > 0 && { inside: Object.fromEntries(inside) },
    };
  }

  function showsOf(path: string, hasInside: boolean): Pick<FolderRow, "shows"> {
    const used = shown.get(path);
    if (used === undefined) return {};
    return { shows: showsAll(path, hasInside) ? "*" : [...used].sort() };
  }

  function showsAll(path: string, hasInside: boolean): boolean {
    const former = formerRows.get(path);
    if (former !== undefined) return former.shows === "*";
    const moved = [...formerRows].filter(([at]) => posix.basename(at) === posix.basename(path));
    return moved.length === 0 ? hasInside : moved.some(([, { shows }]) => shows === "*");
  }

  return rowOf(root);
}

type Edges = [importer: string, owner: string][];

/** The imports that form no circle, chosen in this order: those of ".", then those of most files. */
function untie(edges: Edges): Edges {
  const counted = [...Map.groupBy(edges, (edge) => edge.join(" ")).values()].sort((a, b) =>
    Number(b[0]![0] === ".") - Number(a[0]![0] === ".") || b.length - a.length
  );
  const lawful: Edges = [];
  for (const [edge] of counted) {
    if (findCircles([...lawful, edge!]).length === 0) lawful.push(edge!);
  }
  return lawful;
}

function ownersOf(name: string, edges: Edges): string[] {
  return edges.filter(([importer]) => importer === name).map(([, owner]) => owner).sort();
}

if (import.meta.main) {
  const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const files = await listProjectFiles(project);
  const imports = await readImports(project, files.filter((path) => /\.tsx?$/.test(path)));
  const table = Object.fromEntries(
    Object.entries(FOLDER_TABLE).map(([root, former]) => [
      root,
      writeFolderTable(root, { files, imports }, former),
    ]),
  );
  console.log(`// Over 300 lines: data, which one wants to see at once.
import type { FolderRow } from "./folder_rules.ts";

/** Who may import whom below each root, and what of it; docs/architecture.md says what each is. */
export const FOLDER_TABLE: Readonly<Record<string, FolderRow>> = ${
    JSON.stringify(table).replaceAll(/"(\w+)":/g, "$1:")
  };`);
}
