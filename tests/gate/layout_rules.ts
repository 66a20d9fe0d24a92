const TOP_LEVEL = new Set([
  ".ci",
  ".gitignore",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "README.md",
  "SECURITY.md",
  "bench",
  "deno.json",
  "deno.lock",
  "docs",
  "server",
  "tests",
  "toolkit",
  "wordlists",
]);

/** So many files and folders one takes in at a look. */
const MOST_ENTRIES = 25;

/** Folders that have more, and why. */
export const CROWDED_FOLDERS: Readonly<Record<string, string>> = {
  "toolkit": "the core: what others import, a function a file",
  "toolkit/cli": "a verb a file",
  "toolkit/client": "a call a file",
};

/** What is wrong with where files stand and how they are named. */
export function findLayoutFaults(files: readonly string[]): string[] {
  const strangers = new Set(files.map((path) => path.split("/")[0]!));
  for (const name of TOP_LEVEL) strangers.delete(name);
  return [
    ...[...strangers].sort().map((name) => `${name}: not an entry of the top level`),
    ...files.filter((path) => path.endsWith(".sh")).map((path) =>
      `${path}: scripts are tasks of deno.json or programs in TypeScript`
    ),
    ...files.filter((path) => /\.tsx?$/.test(path) && !/^[a-z0-9_.]+$/.test(fileName(path)))
      .map((path) => `${path}: source files are named in snake_case`),
    ...files.filter((path) =>
      /^(?:utils?|helpers?|manager|misc|common)\.tsx?$/.test(fileName(path))
    )
      .map((path) => `${path}: a file is named after what it exports`),
  ];
}

/**
 * Folders of what ships with more entries than one takes in at a look, tests not counted, and
 * exceptions that are none any more.
 * @param crowded folders that may have more, and why
 */
export function findCrowdedFolders(
  files: readonly string[],
  crowded: Readonly<Record<string, string>>,
): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of files) {
    if (!/^(?:server|toolkit)\//.test(path) || path.endsWith("_test.ts")) continue;
    const names = path.split("/");
    for (let depth = 1; depth < names.length; depth++) {
      const folder = names.slice(0, depth).join("/");
      if (!entries.has(folder)) entries.set(folder, new Set());
      entries.get(folder)!.add(names[depth]!);
    }
  }
  const isFull = (folder: string) => (entries.get(folder)?.size ?? 0) > MOST_ENTRIES;
  return [
    ...[...entries.keys()].filter((folder) => isFull(folder) && !Object.hasOwn(crowded, folder))
      .map((folder) =>
        `${folder}/: ${
          entries.get(folder)!.size
        } files and folders, at most ${MOST_ENTRIES}; move what belongs together into a folder`
      ),
    ...Object.keys(crowded).filter((folder) => !isFull(folder)).map((folder) =>
      `${folder}/: no longer crowded; delete its reason in tests/gate/layout_rules.ts`
    ),
  ];
}

/** Imports of deno.json that name a library without one exact version. */
export function findLooseVersions(imports: Record<string, string>): string[] {
  return Object.entries(imports)
    .filter(([, target]) => !/^\.\.?\//.test(target))
    .filter(([, target]) =>
      !/^npm:(?:@[^/]+\/)?[^/@]+@\d+\.\d+\.\d+(?:-[\w.]+)?(?:\/.*)?$/.test(target)
    )
    .map(([name, target]) => `deno.json: ${name} is ${target}, allowed is npm:name@x.y.z`);
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
