/**
 * Programs in Python that need libraries. CI installs those into a folder of their own. Other
 * machines use what they have, and skip the test by name if that is not enough.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { findPart, partOrSkip } from "./part.ts";

/** Runs Python with the libraries; a test gets this function. */
export interface PythonRun {
  (args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/**
 * Registers a test that needs Python 3 and libraries.
 *
 * @param requirements path of the file of exact versions
 * @param modules what the program imports of them
 */
export async function pythonOrSkip(
  requirements: string,
  modules: readonly string[],
  name: string,
  /** Runs with Python, or with the variables that let any Python find the libraries. */
  fn: (run: PythonRun, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const python = findPart("python3");
  const libraries = python === null ? null : await bring(python, requirements, modules);
  if (python !== null && libraries === null) {
    const needs = `needs ${modules.join(", ")} for Python; CI=true brings them`;
    Deno.test({ name: `${name} (${needs})`, ignore: true, fn() {} });
    return;
  }
  partOrSkip(
    "python3",
    name,
    (program) => fn((args) => runPython(program, libraries!, args), findingOf(libraries!)),
  );
}

/** The folder of the libraries; "" when Python itself has them, null when there are none. */
async function bring(
  python: string,
  requirements: string,
  modules: readonly string[],
): Promise<string | null> {
  const imports = ["-c", `import ${modules.join(", ")}`];
  if ((await runPython(python, "", imports)).code === 0) return "";
  const folder = await libraryFolder(python, requirements);
  if (await Deno.stat(folder).then(() => true, () => false)) return folder;
  if (Deno.env.get("CI") !== "true") return null;
  await Deno.mkdir(dirname(folder), { recursive: true });
  const draft = await Deno.makeTempDir({ dir: dirname(folder) });
  const pip = ["-m", "pip", "install", "--quiet", "--target", draft, "-r", requirements];
  const { code, stderr } = await runPython(python, "", pip);
  if (code !== 0) throw new Error(`cannot bring ${modules.join(", ")}: ${stderr}`);
  // The first of several test processes succeeds.
  await Deno.rename(draft, folder).catch(() => Deno.remove(draft, { recursive: true }));
  return folder;
}

/** A folder for these requirements under this version of Python. */
async function libraryFolder(python: string, requirements: string): Promise<string> {
  const { stdout } = await runPython(python, "", ["--version"]);
  const hash = createHash("sha256").update(stdout).update(await Deno.readFile(requirements));
  const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
  return join(temporary, "relay-test-programs", `python-${hash.digest("hex").slice(0, 16)}`);
}

async function runPython(
  python: string,
  libraries: string,
  args: readonly string[],
): ReturnType<PythonRun> {
  const { code, stdout, stderr } = await new Deno.Command(python, {
    args: [...args],
    env: {
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      ...findingOf(libraries),
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function findingOf(libraries: string): Record<string, string> {
  return libraries === "" ? {} : { PYTHONPATH: libraries };
}
