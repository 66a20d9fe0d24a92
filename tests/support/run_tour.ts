/** A tour of a document, as somebody pastes it into a shell. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function hasBash(): boolean {
  try {
    return new Deno.Command("bash", { args: ["-c", "true"] }).outputSync().success;
  } catch {
    return false;
  }
}

/** Deno before 2.9 is refused by the lock file, in every task. */
export const canRunTours = Number(Deno.version.deno.split(".")[1]) >= 9 && hasBash();

export interface Tour {
  /** From the top of the repository. */
  document: string;
  /** Words before the block. */
  after: string;
  /** The block's port; the tour runs on another, for somebody may have a relay there. */
  port: string;
}

/**
 * Runs the first shell block behind some words of a document, and asserts that it ends well and leaves
 * nothing behind.
 * @returns what it printed
 */
export async function runTour({ document, after, port: usualPort }: Tour): Promise<string> {
  const text = await Deno.readTextFile(new URL(`../../${document}`, import.meta.url));
  const behind = text.slice(text.indexOf(after));
  const [, block] = /```sh\n([^]*?)```/.exec(behind)!;
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const folder = await Deno.makeTempDir({ prefix: "relay-tour-" });
  try {
    const shell = new Deno.Command("bash", {
      cwd: ROOT,
      env: { TMPDIR: folder, PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}` },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const pasted = block!.replaceAll(usualPort, String(port));
    assert.notEqual(pasted, block);
    await new Blob([pasted]).stream().pipeTo(shell.stdin);
    const { code, stdout, stderr } = await shell.output();
    const [said, complaints] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.equal(code, 0, said! + complaints!);
    assert.deepEqual([...Deno.readDirSync(folder)], [], "no folder is left");
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), "no relay is left");
    return said!;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
