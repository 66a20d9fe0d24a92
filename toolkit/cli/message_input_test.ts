import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { InputError } from "./failure.ts";
import { type InputEntry, readMessages } from "./message_input.ts";
import fc from "../../tests/support/seeded_fast_check.ts";

function read(...texts: string[]): ReturnType<typeof readAll> {
  return readAll(texts.map((text) => new TextEncoder().encode(text)));
}

async function readAll(
  chunks: Iterable<Uint8Array>,
): Promise<{ isBatch: boolean; entries: unknown[] }> {
  const { isBatch, entries } = await readMessages(streamOf(chunks));
  const found: unknown[] = [];
  for await (const entry of entries) found.push(shown(entry));
  return { isBatch, entries: found };
}

async function* streamOf(
  chunks: Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function shown(entry: InputEntry): unknown {
  return "value" in entry ? entry.value : entry.error.code;
}

const single = (...entries: unknown[]) => ({ isBatch: false, entries });
const batch = (...entries: unknown[]) => ({ isBatch: true, entries });

Deno.test("readMessages() takes one message, on one line or on several", async () => {
  deepEqual(await read('{"id":1}'), single({ id: 1 }));
  deepEqual(await read('\n\n  {"id":1}\r\n\n'), single({ id: 1 }));
  deepEqual(
    await read('{\n  "id": 1,\n  "body": {\n  "a": []\n}\n}\n'),
    single({ id: 1, body: { a: [] } }),
  );
  deepEqual(
    await read('{"id":1,"from":"x","messages":[1]}'),
    single({ id: 1, from: "x", messages: [1] }),
  );
});

Deno.test("readMessages() takes an array and the answer of an inbox", async () => {
  deepEqual(await read('[{"id":1},2]'), batch({ id: 1 }, 2));
  deepEqual(await read('[\n{"id":1},\n{"id":2}\n]'), batch({ id: 1 }, { id: 2 }));
  deepEqual(await read('{"messages":[{"id":1}],"last_id":1}'), batch({ id: 1 }));
  deepEqual(
    await read('{"last_id":2,"messages":[\n{"id":1},\n{"id":2}\n]}\n'),
    batch({ id: 1 }, { id: 2 }),
  );
});

Deno.test("readMessages() takes one message a line", async () => {
  deepEqual(await read('{"id":1}\n{"id":2}'), batch({ id: 1 }, { id: 2 }));
  deepEqual(await read('{"id":1}\r\n\r\n \n{"id":2}\n'), batch({ id: 1 }, { id: 2 }));
  deepEqual(
    await read('{"id":1}\nno json\n[]\n{"a":1,"a":2}\n'),
    batch({ id: 1 }, "syntax", [], "duplicate_name"),
  );
});

Deno.test("readMessages() takes a broken first line for one of several messages", async () => {
  deepEqual(await read('no json\n{"id":2}\n{"id":3}'), batch("syntax", { id: 2 }, { id: 3 }));
  deepEqual(await read('x\n\ny\n{"id":3}\nz'), batch("syntax", "syntax", { id: 3 }, "syntax"));
  deepEqual(await read('{"id":1,"from":\n{"id":2}\n'), batch("syntax", { id: 2 }));
  deepEqual(await read('{"a":1,"a":2}\n{"id":2}'), batch("duplicate_name", { id: 2 }));
});

Deno.test("readMessages() refuses nothing, an empty list and a broken document", async () => {
  for (const text of ["", " \n\r\n\t", "[]", '{"messages":[]}', "[ \n ]"]) {
    await rejects(read(text), InputError, text);
  }
  for (
    const text of [
      "{",
      "x",
      '{"a":1,"a":2}',
      '[\n{"id":1},\n{"id":2}\n',
      '[x\n{"id":1}\n]',
      "\ufeff{}",
    ]
  ) {
    await rejects(read(text), /malformed: the input is not strict JSON: .+line \d/, text);
  }
});

Deno.test("readMessages() allows in a body of a batch the depth that a body may have", async () => {
  const body = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  equal((await read(`{"messages":[{"body":${body(64)}}]}`)).isBatch, true);
  await rejects(read(`{"messages":[{"body":${body(65)}}]}`), /at most 67/);
});

Deno.test("readMessages() gives messages of lines before the input ends", async () => {
  let asked = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield new TextEncoder().encode(`{"id":${asked++}}\n`);
  }
  const { entries } = await readMessages(endless());
  const ids: unknown[] = [];
  for await (const entry of entries) {
    ids.push(shown(entry));
    if (ids.length === 100) break;
  }
  deepEqual(ids.at(-1), { id: 99 });
  equal(asked <= 101, true);
});

Deno.test("readMessages() reads the same whatever the chunks are", async () => {
  const said = (...chunks: Uint8Array[]) => readAll(chunks).catch(String);
  const piece = fc.constantFrom('{"a":"é"}', "\n", "\r\n", "[", "]", ",", "x");
  await fc.assert(
    fc.asyncProperty(fc.array(piece), fc.array(fc.nat(3)), async (pieces, sizes) => {
      const whole = new TextEncoder().encode(pieces.join(""));
      const chunks: Uint8Array[] = [];
      let start = 0;
      for (const size of sizes) chunks.push(whole.subarray(start, start += size));
      chunks.push(whole.subarray(start));
      deepEqual(await said(...chunks), await said(whole));
    }),
  );
});
