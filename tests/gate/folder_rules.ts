import { posix } from "node:path";
import { findCircles } from "./circles.ts";
import type { Import } from "./module_graph.ts";

/**
 * A folder: what its files may import, and what of it files outside may. An import is judged where the
 * ways to both files part: the folder there that holds the one must name the folder that holds the
 * other.
 */
export interface FolderRow {
  /**
   * Folders beside it, of rows before its own, so that no circle can be written down; "." for the files
   * directly in the folder around both.
   */
  imports?: readonly string[];
  /**
   * Files that importers outside may use, as paths from it, where the folders inside show them too; "*"
   * for all.
   */
  shows?: readonly string[] | "*";
  /**
   * The folders inside, from the ground up. Files directly in this one stand on top and put them
   * together: they import what they like, and no folder inside imports them. Where they are under some
   * of them, they are a row ".".
   */
  inside?: Readonly<Record<string, FolderRow>>;
}

export interface ImportedFiles {
  /** All files of the project, from its root. */
  files: readonly string[];
  imports: readonly Import[];
}

/** An import as the folder sees it where the ways to both files part. */
export interface Crossing {
  place: string;
  /** Folders directly in `place`; "." for files directly in it. */
  importer: string;
  owner: string;
  one: Import;
}

const TABLE = "tests/gate/folder_table.ts";

/**
 * One line for each import between folders that the table does not allow, for each circle of folders,
 * each row that nothing needs and each folder without one, at every depth. Tests import what they like.
 * @param root the folder that the table is of, from the project's root
 */
export function findFolderFaults(
  root: string,
  { files, imports }: ImportedFiles,
  table: FolderRow,
): string[] {
  const rows = rowsOf(root, table);
  const folders = foldersOf(root, files);
  const crossings = crossingsOf(root, imports);
  return [
    ...folders.filter((folder) => !rows.has(folder)).map((folder) =>
      `${folder}/: has no row; say in ${TABLE} what it imports and shows`
    ),
    ...[...rows].flatMap(([path, row]) => findWrongRows(path, row, folders)),
    ...new Set(crossings.flatMap((crossing) => findRefusals(crossing, rows))),
    ...findFolderCircles(crossings),
    ...findIdleRows(crossings, rows),
  ];
}

/** Imports that leave a folder below `root`, or the files directly in one for a folder inside. */
export function crossingsOf(root: string, imports: readonly Import[]): Crossing[] {
  return imports.flatMap((one) => {
    const [from, to] = [one.from.split("/"), one.to.split("/")];
    if (from[0] !== root || to[0] !== root || posix.basename(one.from).endsWith("_test.ts")) {
      return [];
    }
    const ways = Math.min(from.length, to.length) - 1;
    let depth = 1;
    while (depth < ways && from[depth] === to[depth]) depth++;
    const childOf = (path: string[]) => depth < path.length - 1 ? path[depth]! : ".";
    const [importer, owner] = [childOf(from), childOf(to)];
    return importer === owner
      ? []
      : [{ place: from.slice(0, depth).join("/"), importer, owner, one }];
  });
}

/** The folders from `place` down to an imported file that have to show it, and its path from each. */
export function showersOf({ place, one: { to } }: Crossing): { folder: string; file: string }[] {
  const showers = [];
  for (let folder = posix.dirname(to); folder !== place; folder = posix.dirname(folder)) {
    showers.unshift({ folder, file: to.slice(folder.length + 1) });
  }
  return showers;
}

type Rows = ReadonlyMap<string, FolderRow>;

/** All rows by their paths, each before those inside; `folder/.` is the files directly in a folder. */
export function rowsOf(path: string, row: FolderRow): Map<string, FolderRow> {
  const inside = Object.entries(row.inside ?? {});
  return new Map([
    [path, row],
    ...inside.flatMap(([name, child]) => [...rowsOf(`${path}/${name}`, child)]),
  ]);
}

/** Folders at and below `root` with files, sorted. */
export function foldersOf(root: string, files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    if (!file.startsWith(`${root}/`)) continue;
    for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) {
      folders.add(folder);
    }
  }
  return [...folders].sort();
}

/** A row of a folder that is not there, and what a row names that is no row before it. */
function findWrongRows(path: string, { inside = {} }: FolderRow, folders: readonly string[]) {
  const names = Object.keys(inside);
  const forward = names.flatMap((name, index) =>
    (inside[name]!.imports ?? []).filter((owner) => !names.slice(0, index).includes(owner))
      .map((owner) =>
        `${path}/${name}: imports "${owner}", which is no row before it in ${path}/; order the rows from the ground up, or move files until that goes`
      )
  );
  return folders.includes(posix.normalize(path))
    ? forward
    : [`${path}/: has a row and no file; delete the row`];
}

function findRefusals(crossing: Crossing, rows: Rows): string[] {
  const { place, importer, owner, one: { from, to } } = crossing;
  const row = rows.get(`${place}/${importer}`);
  if (row === undefined) return [];
  const refusals = [];
  if (!row.imports?.includes(owner)) {
    refusals.push(
      `${from} imports ${to}: in ${place}/, "${importer}" may import ${
        listOf(row.imports)
      }; move one of the files, or add "${owner}" to its row in ${TABLE}`,
    );
  }
  const hidden = showersOf(crossing).find(({ folder, file }) => {
    const { shows = [] } = rows.get(folder) ?? { shows: "*" };
    return shows !== "*" && !shows.includes(file);
  });
  if (hidden !== undefined) {
    const { folder, file } = hidden;
    refusals.push(
      `${from} imports ${to}: the inside of ${folder}/, which shows ${
        listOf(rows.get(folder)!.shows)
      }; move what is needed into one of these, or add "${file}" to what its row shows in ${TABLE}`,
    );
  }
  return refusals;
}

function findFolderCircles(crossings: readonly Crossing[]): string[] {
  const places = Map.groupBy(crossings, ({ place }) => place);
  return [...places].flatMap(([place, inside]) =>
    findCircles(edgesOf(inside)).map((circle) => {
      const imports = circle.slice(1).map((owner, index) => {
        const importer = circle[index];
        const { one } = inside.find((one) => one.importer === importer && one.owner === owner)!;
        return `${one.from} -> ${one.to}`;
      });
      return `circle in ${place}/: ${circle.join(" -> ")}, by ${
        imports.join(", ")
      }; move what two of them need into a folder below both`;
    })
  );
}

/** What the table allows and nothing does: it would hide that a boundary grew better. */
function findIdleRows(crossings: readonly Crossing[], rows: Rows): string[] {
  const used = new Set<string>();
  for (const crossing of crossings) {
    const path = `${crossing.place}/${crossing.importer}`;
    used.add(`${crossing.place}/${crossing.owner}`);
    if (!rows.has(path)) continue;
    used.add(`${path} imports ${crossing.owner}`);
    for (const { folder, file } of showersOf(crossing)) {
      used.add(`${folder} shows ${file}`).add(`${folder} shows *`);
    }
  }
  return [...rows].flatMap(([path, { imports = [], shows = [] }]) => [
    ...imports.map((owner) => `${path} imports ${owner}`),
    ...[...shows].map((file) => `${path} shows ${file}`),
    ...path.endsWith("/.") ? [path] : [],
  ]).filter((row) => !used.has(row)).map((row) =>
    `${TABLE} says "${row}", and nothing needs it; delete that`
  );
}

/** Pairs of folders that import each other. */
export function edgesOf(crossings: readonly Crossing[]): [string, string][] {
  return crossings.map(({ importer, owner }) => [importer, owner]);
}

function listOf(names: readonly string[] | "*" = []): string {
  return names.length === 0 ? "nothing" : [...names].join(", ");
}
