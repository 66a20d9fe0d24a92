/** The references of the store: commits of seven mutations by 64 callers, lists of 50 rows. */
import { answerLines } from "./child.ts";

const { folder }: { folder: string } = JSON.parse(Deno.args[0]!);
const kv = await Deno.openKv(`${folder}/bare.kv`);
const CALLERS = 64;
const LIST_ROWS = 50;
/** What a stored message of a 200-byte body takes. */
const ROW = new Uint8Array(700).fill(120);
let sequence = 0;

async function commits(count: number): Promise<number> {
  let left = count;
  const value = { v: 1, text: "x".repeat(200) };
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: CALLERS }, async (_, caller) => {
    while (left-- > 0) {
      const id = ++sequence;
      const operation = kv.atomic();
      for (let row = 0; row < 7; row++) operation.set(["row", row, caller, id], value);
      if (!(await operation.commit()).ok) throw new Error("a bare commit failed");
    }
  }));
  return count / ((performance.now() - beganMs) / 1000);
}

let hasBoxes = false;

async function lists(count: number): Promise<number> {
  if (!hasBoxes) await fillBoxes();
  let left = count;
  const beganMs = performance.now();
  await Promise.all(Array.from({ length: CALLERS }, async (_, box) => {
    while (left-- > 0) {
      const rows = await Array.fromAsync(kv.list({ prefix: ["box", box] }, { limit: LIST_ROWS }));
      if (rows.length !== LIST_ROWS) throw new Error("a bare list was short");
    }
  }));
  return count / ((performance.now() - beganMs) / 1000);
}

async function fillBoxes(): Promise<void> {
  for (let box = 0; box < CALLERS; box++) {
    const operation = kv.atomic();
    for (let id = 0; id < LIST_ROWS; id++) operation.set(["box", box, id], ROW);
    await operation.commit();
  }
  hasBoxes = true;
}

console.log(JSON.stringify({ ready: true }));
await answerLines(async (line) => {
  const [what, count] = line.split(" ");
  return what === "commits" ? await commits(Number(count)) : await lists(Number(count));
});
kv.close();
