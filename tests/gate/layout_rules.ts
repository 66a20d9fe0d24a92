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
