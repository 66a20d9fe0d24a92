import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { FileError } from "./file_error.ts";
import { privateFile } from "./private_file.ts";

const FORMAT = {
  empty: (): string[] => [],
  parse: (file: unknown) => Array.isArray(file) ? file : undefined,
  write: (list: string[]) => JSON.stringify(list),
  advice: "list: remove it",
};

Deno.test("privateFile() keeps what each change makes of what was there", async () => {
  const host = memoryHost([]);
  const file = privateFile(host, "list.json", FORMAT);
  assert.deepEqual(await file.read(), []);
  assert.deepEqual(
    await Promise.all(["a", "b"].map((word) => file.change((list) => list.push(word)))),
    [1, 2],
  );
  assert.deepEqual(await privateFile(host, "list.json", FORMAT).read(), ["a", "b"]);
});

Deno.test("privateFile() leaves the file where a change is refused, and throws the refusal", async () => {
  const host = memoryHost([], { files: { "list.json": '["a"]' } });
  const refusal = new TypeError("no");
  const change = privateFile(host, "list.json", FORMAT).change((list) => {
    list.push("b");
    throw refusal;
  });
  await assert.rejects(change, (thrown) => thrown === refusal);
  assert.equal(host.files.get("list.json"), '["a"]');
});

Deno.test("privateFile() says of a file that is none what to do, and of one that cannot be written why", async () => {
  for (const text of ["", "{}", "[1,", '[{"a":1,"a":1}]']) {
    const file = privateFile(
      memoryHost([], { files: { "list.json": text } }),
      "list.json",
      FORMAT,
    );
    const words = { name: "FileError", message: "'list.json' is no list: remove it" };
    await assert.rejects(file.read(), words, text);
    await assert.rejects(file.change(() => {}), words, text);
  }
  const host = memoryHost([]);
  host.writePrivateFile = () => Promise.reject(Object.assign(new Error(""), { code: "EACCES" }));
  const change = privateFile(host, "list.json", FORMAT).change(() => {});
  await assert.rejects(
    change,
    (thrown: Error) =>
      thrown instanceof FileError &&
      thrown.message === "cannot write 'list.json': permission denied",
  );
});
