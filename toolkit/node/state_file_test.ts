import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { FileError } from "./file_error.ts";
import { stateFile } from "./state_file.ts";

const RELAY = "https://relay.example";

Deno.test("stateFile() keeps cursors per relay and address, and never moves them back", async () => {
  const host = memoryHost([]);
  const state = stateFile(host, "key.json");
  assert.equal(await state.cursor(RELAY, "A"), 0);
  await state.keepCursor(RELAY, "A", 7);
  await state.keepCursor(RELAY, "A", 5);
  await state.keepCursor(RELAY, "B", 3);
  await state.keepCursor("https://other.example", "A", 1);
  assert.deepEqual([...host.files.keys()], ["key.json.state.json"]);
  const later = stateFile(host, "key.json");
  assert.deepEqual([
    await later.cursor(RELAY, "A"),
    await later.cursor(RELAY, "B"),
    await later.cursor("https://other.example", "A"),
    await later.cursor("https://other.example", "B"),
  ], [7, 3, 1, 0]);
});

Deno.test("stateFile() gives each timestamp of a request once, to all who share it", async () => {
  const { files } = memoryHost([]);
  const host = memoryHost([], { files });
  const claims = [1, 2, 3, 4].map(() =>
    stateFile(host, "key.json").usedTimestamps.claim("request", 100)
  );
  assert.deepEqual((await Promise.all(claims)).sort(), [100, 101, 102, 103]);
  assert.equal(await stateFile(host, "key.json").usedTimestamps.claim("other", 100), 100);
  await stateFile(host, "key.json").keepCursor(RELAY, "A", 1);
  assert.equal(await stateFile(host, "key.json").usedTimestamps.claim("other", 100), 101);
});

Deno.test("stateFile() says what to do with a file that is none", async () => {
  const wrong = [
    "",
    "null",
    "[]",
    '{"version":2,"cursors":{},"used_timestamps":{}}',
    '{"version":1,"cursors":{"a":-1},"used_timestamps":{}}',
    '{"version":1,"cursors":{},"used_timestamps":{"a":5}}',
    '{"version":1,"cursors":{}}',
  ];
  for (const text of wrong) {
    const host = memoryHost([], { files: { "key.json.state.json": text } });
    await assert.rejects(
      async () => await stateFile(host, "key.json").usedTimestamps.claim("a", 1),
      (thrown: Error) => thrown instanceof FileError && /remove it/.test(thrown.message),
    );
    assert.equal(host.files.get("key.json.state.json"), text);
  }
});

Deno.test("stateFile() tells when it cannot write", async () => {
  const host = memoryHost([]);
  host.writePrivateFile = () => Promise.reject(Object.assign(new Error(""), { code: "EACCES" }));
  await assert.rejects(
    stateFile(host, "key.json").keepCursor(RELAY, "A", 1),
    /cannot write 'key\.json\.state\.json': permission denied/,
  );
});
