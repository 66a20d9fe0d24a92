import assert from "node:assert/strict";

const read = (file: string) => Deno.readTextFile(new URL(file, import.meta.url));

/** [kind, number, files] of every step that the list at the top of sender.ts names. */
async function listSteps(): Promise<[kind: string, number: number, files: string[]][]> {
  const list = (await read("sender.ts")).split("*/")[0]!;
  const steps = [...list.matchAll(/^ \* - (Check|Replay) (\d+), ((?:`[^`]+`(?:, )?)+):/gm)];
  return steps.map(([, kind, number, files]) => [
    kind!,
    Number(number),
    [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
  ]);
}

Deno.test("the list of a send's checks and replays has each once, in order", async () => {
  const steps = await listSteps();
  for (const [kind, count] of [["Check", 14], ["Replay", 7]] as const) {
    const numbers = steps.filter((step) => step[0] === kind).map(([, number]) => number);
    assert.deepEqual(numbers, Array.from({ length: count }, (_, i) => i + 1), kind);
  }
});

Deno.test("every check and replay of a send is marked in the file that the list names, and no other", async () => {
  const steps = await listSteps();
  const files = new Set(steps.flatMap(([, , files]) => files));
  assert.ok(files.size > 5);
  for (const file of files) {
    const code = (await read(file)).split("\n").filter((line) => !line.startsWith(" *"));
    const marked = code.flatMap((line) =>
      line.match(/(?<=\/\/ )(Check|Replay) \d+(?!, again)\b/)?.[0] ?? []
    );
    const named = steps.filter(([, , files]) => files.includes(file)).map(([kind, n]) =>
      `${kind} ${n}`
    );
    assert.deepEqual([...new Set(marked)].sort(), named.sort(), file);
  }
});
