import { join } from "node:path";
import { findFolderFaults } from "./folder_rules.ts";
import { FOLDER_TABLE } from "./folder_table.ts";
import { findImportFaults } from "./import_rules.ts";
import {
  CROWDED_FOLDERS,
  findCrowdedFolders,
  findLayoutFaults,
  findLooseVersions,
} from "./layout_rules.ts";
import { findDeadLinks } from "./markdown_links.ts";
import { readImports } from "./module_graph.ts";
import { readProject } from "./read_project.ts";
import { runCommand } from "./run_command.ts";
import type { Step, StepResult } from "./step.ts";
import { tallyOfCheck } from "./tally.ts";
import {
  findImpureCode,
  findLongFiles,
  findLooseAssertions,
  findMachinePaths,
  findRegistryHosts,
  type SourceFile,
} from "./text_rules.ts";

/** The checks that only read the project, except types; each counts as one. */
export function staticSteps(root: string): Step[] {
  const project = once(() => readProject(root));
  const eachFile = (rule: (file: SourceFile) => string[]) => async () =>
    resultOf((await project()).flatMap(rule));
  const paths = async () => (await project()).map(({ path }) => path);
  return [
    { name: "format", run: () => deno(root, "fmt", "--check") },
    { name: "lint", run: () => deno(root, "lint") },
    { name: "lock file", run: () => deno(root, "install", "--frozen") },
    {
      name: "import rules",
      run: async () => {
        const files = await paths();
        const imports = await readImports(root, files.filter((path) => /\.tsx?$/.test(path)));
        return resultOf([
          ...findImportFaults(imports),
          ...Object.entries(FOLDER_TABLE).flatMap(([root, table]) =>
            findFolderFaults(root, { files, imports }, table)
          ),
        ]);
      },
    },
    { name: "purity of the toolkit's core", run: eachFile(findImpureCode) },
    {
      name: "length of files",
      run: async () => ({ ...resultOf([]), warnings: (await project()).flatMap(findLongFiles) }),
    },
    {
      name: "layout and names",
      run: async () => {
        const files = await paths();
        return resultOf([
          ...findLayoutFaults(files),
          ...findCrowdedFolders(files, CROWDED_FOLDERS),
        ]);
      },
    },
    { name: "strict assertions", run: eachFile(findLooseAssertions) },
    {
      name: "exact versions",
      run: async () => resultOf(findLooseVersions(await readImportMap(root))),
    },
    { name: "no registry hosts", run: eachFile(findRegistryHosts) },
    { name: "no paths of one machine", run: eachFile(findMachinePaths) },
    {
      name: "links between documents",
      run: async () => {
        const files = await project();
        const pages = files.filter(({ path }) => path.endsWith(".md"));
        return resultOf(findDeadLinks(pages, new Set(files.map(({ path }) => path))));
      },
    },
  ];
}

/** Type checks everything. Of the steps that run nothing it takes longest, on one core, so it begins first. */
export function typesStep(root: string): Step {
  return { name: "types", isEarly: true, run: () => deno(root, "check", "--frozen") };
}

async function deno(root: string, ...args: [string, ...string[]]): Promise<StepResult> {
  const { exitCode, output } = await runCommand([Deno.execPath(), ...args], { cwd: root });
  return { ...tallyOfCheck(exitCode === 0), output };
}

function resultOf(faults: readonly string[]): StepResult {
  const output = faults.map((fault) => `${fault}\n`).join("");
  return { ...tallyOfCheck(faults.length === 0), output };
}

async function readImportMap(root: string): Promise<Record<string, string>> {
  return JSON.parse(await Deno.readTextFile(join(root, "deno.json"))).imports;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}
