import { posix } from "node:path";
import { findCircles } from "./circles.ts";
import type { Import } from "./module_graph.ts";

/** What one folder of the server may import, and what of it the others may. */
export interface FolderRule {
  /** Folders of the server, by name. Files directly in server/ and the toolkit are open to all. */
  imports: readonly string[];
  /** Its files that others may import; "*" for a folder that is a library for all of them. */
  shows: readonly string[] | "*";
}

export type FolderTable = Readonly<Record<string, FolderRule>>;

/**
 * One line for each import between folders of the server that the table does not allow, for each
 * row of it that nothing needs, and for each circle in it. Tests, bench and the files directly in
 * server/, which put the parts together, import what they like.
 */
export function findFolderFaults(imports: readonly Import[], table: FolderTable): string[] {
  const used = new Set<string>();
  const faults: string[] = [];
  for (const { from, to } of imports) {
    const importer = folderOf(from);
    const owner = folderOf(to);
    if (owner === null) continue;
    const file = to.slice(`server/${owner}/`.length);
    if (importer === null || importer === owner || isTest(from)) continue;
    used.add(`${importer} imports ${owner}`);
    used.add(`${owner} shows ${file}`);
    const rule = table[importer];
    if (rule !== undefined && !rule.imports.includes(owner)) {
      faults.push(
        `${from} imports ${to}: ${importer}/ may import ${listOf(rule.imports)} of server/`,
      );
    }
    const shown = table[owner]?.shows ?? [];
    if (shown !== "*" && !shown.includes(file)) {
      faults.push(`${from} imports ${to}: that file is the inside of ${owner}/`);
    }
  }
  const folders = new Set(imports.flatMap(({ from }) => folderOf(from) ?? []));
  for (const folder of [...folders].sort()) {
    if (!Object.hasOwn(table, folder)) faults.push(`server/${folder}/: has no row in the table`);
  }
  return [...new Set(faults), ...findIdleRows(table, used), ...findFolderCircles(table)];
}

/** What the table allows and nothing does: it would hide that a boundary grew better. */
function findIdleRows(table: FolderTable, used: ReadonlySet<string>): string[] {
  return Object.entries(table).flatMap(([folder, { imports, shows }]) => [
    ...imports.map((other) => `${folder} imports ${other}`),
    ...(shows === "*" ? [] : shows.map((file) => `${folder} shows ${file}`)),
  ]).filter((row) => !used.has(row)).map((row) => `the table says "${row}", and nothing does`);
}

function findFolderCircles(table: FolderTable): string[] {
  const edges = Object.entries(table).flatMap(([folder, { imports }]) =>
    imports.map((other) => [folder, other] as const)
  );
  return findCircles(edges).map((circle) => `circle of folders: ${circle.join(" -> ")}`);
}

/** The folder of the server that a file stands in; null for everything else. */
function folderOf(path: string): string | null {
  const [root, folder, ...rest] = path.split("/");
  return root === "server" && rest.length > 0 ? folder! : null;
}

function isTest(path: string): boolean {
  return posix.basename(path).endsWith("_test.ts");
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : names.map((name) => `${name}/`).join(", ");
}
