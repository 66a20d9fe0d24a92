import assert from "node:assert/strict";
import { workerOf } from "./start_worker.ts";

const PROGRAM = `
  import { lowerPriority, mayLowerPriority } from "${import.meta.resolve("./lower_priority.ts")}";
  lowerPriority();
  postMessage(mayLowerPriority());
`;

/** Niceness of the threads of this process, by name. */
async function nicenesses(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const { name } of Deno.readDir("/proc/self/task")) {
    const text = await Deno.readTextFile(`/proc/self/task/${name}/stat`).catch(() => "");
    const [, thread, rest] = /^\d+ \((.*)\) (.*)/.exec(text) ?? [];
    if (thread !== undefined) found.set(`${name} ${thread}`, Number(rest!.split(" ")[16]));
  }
  return found;
}

Deno.test({
  name: "a worker that goes last has a lower priority, this thread the same, and the right is gone",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const before = await nicenesses();
    const said = Promise.withResolvers<unknown>();
    const program = `data:text/javascript,${encodeURIComponent(PROGRAM)}`;
    const worker = workerOf(program, {
      name: "last",
      goesLast: true,
    })({ message: said.resolve, died: said.reject });
    try {
      assert.equal(await said.promise, false, "it could do so again");
      const after = await nicenesses();
      const lowered = [...after].filter(([thread, nice]) => nice > (before.get(thread) ?? 0));
      assert.equal(lowered.length, 1);
      for (const [thread, nice] of before) assert.equal(after.get(thread) ?? nice, nice, thread);
    } finally {
      worker.terminate();
    }
  },
});
