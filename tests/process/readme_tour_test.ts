/** The tour of README.md, as somebody pastes it into a shell. */
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
const canRun = Number(Deno.version.deno.split(".")[1]) >= 9 && hasBash();

Deno.test({
  name: "the tour of README.md runs as pasted, and leaves nothing behind (needs bash and Deno 2.9)",
  ignore: !canRun,
  async fn() {
    const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
    const [, block] = /Then the command line[^]*?```sh\n([^]*?)```/.exec(readme)!;
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
      // Another port than the block's, on which somebody may have a relay.
      const pasted = block!.replaceAll("8017", String(port));
      assert.notEqual(pasted, block);
      await new Blob([pasted]).stream().pipeTo(shell.stdin);
      const { code, stdout, stderr } = await shell.output();
      const [said, complaints] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(code, 0, said! + complaints!);
      assert.match(said!, /Are you there, Bob\?[^]*== Now Alice/);
      assert.match(said!, /== The same key registers[^]*\nalice@agents\.test active\n/);
      assert.match(said!, /FALSE[^]*exit code 1\n$/);
      assert.deepEqual([...Deno.readDirSync(folder)], [], "no folder is left");
      await assert.rejects(fetch(`http://127.0.0.1:${port}/health`), "no relay is left");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
