import assert from "node:assert/strict";
import { cpuPerRequest, type ThreadCpu } from "./thread_cpu.ts";

const isLinux = Deno.build.os === "linux";

Deno.test({
  name: "readThreadCpu() tells work of the store's threads from that of the main thread",
  ignore: !isLinux,
  async fn() {
    const script = `const kv = await Deno.openKv(Deno.args[0]);
      for (let i = 0; i < 300; i++) await kv.set(["row", i], "x".repeat(20_000));
      console.log("stored");
      await Deno.stdin.read(new Uint8Array(1)); // until its threads have been read
      const endMs = performance.now() + 300;
      while (performance.now() < endMs);
      console.log("counted");
      await Deno.stdin.read(new Uint8Array(1));`;
    const folder = await Deno.makeTempDir();
    const file = `${folder}/script.ts`;
    await Deno.writeTextFile(file, script);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--unstable-kv", file, `${folder}/rows.kv`],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const wrote = async (word: string) => {
      while (!text.includes(word)) text += (await lines.read()).value!;
    };
    await wrote("stored");
    const stored = readThreadCpuThere(child.pid)!;
    const writer = child.stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await wrote("counted");
    const counted = readThreadCpuThere(child.pid);
    await writer.close();
    await child.status;
    await lines.cancel();
    await Deno.remove(folder, { recursive: true });
    assert.ok(stored.store > 1_000, `${stored.store} us in the store's threads`);
    const then = cpuPerRequest(stored, counted, 1)!;
    assert.ok(then.main > 10_000, `${then.main} us in the main thread`);
    assert.ok(then.store < then.main / 2, `${then.store} us in the store's threads meanwhile`);
  },
});

function readThreadCpuThere(pid: number): ThreadCpu | null {
  // The tests are not allowed everything, which reading /proc takes.
  const script = `import { readThreadCpu } from ${
    JSON.stringify(import.meta.resolve("./thread_cpu.ts"))
  }; console.log(JSON.stringify(readThreadCpu(${pid})));`;
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    stderr: "inherit",
  }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("readThreadCpu() is null for a process that is not there", () => {
  assert.equal(readThreadCpuThere(4_000_000_000), null);
});

Deno.test("cpuPerRequest() shares the difference among the requests", () => {
  const before = { main: 100, store: 50, workers: 0 };
  const after = { main: 300, store: 90, workers: 10 };
  assert.deepEqual(cpuPerRequest(before, after, 10), { main: 20, store: 4, workers: 1 });
  assert.equal(cpuPerRequest(null, after, 10), undefined);
});
