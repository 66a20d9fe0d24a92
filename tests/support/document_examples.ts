/** The shell blocks of a section of docs/mail.md, and what they do when they are pasted. */
import assert from "node:assert/strict";

/** Every shell block of a section, by the heading that it stands under. */
export async function examplesOf(section: string): Promise<[heading: string, block: string][]> {
  const text = await Deno.readTextFile(new URL("../../docs/mail.md", import.meta.url));
  const [, part] = new RegExp(`\n## ${section}\n([^]*?)\n## `).exec(text)!;
  return part!.split(/\n### /).flatMap((under) =>
    [...under.matchAll(/```sh\n([^]*?)```/g)].map(([, block]): [string, string] => [
      under.split("\n", 1)[0]!,
      block!,
    ])
  );
}

/** Runs a block in bash, and asserts that it ends well. @returns what it printed */
export async function runExample(
  [heading, block]: readonly [heading: string, block: string],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const shell = new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", block],
    cwd,
    env,
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await shell.output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, `${heading}: ${text}${new TextDecoder().decode(stderr)}`);
  assert.doesNotMatch(text, /"error"/, heading);
  return text;
}
