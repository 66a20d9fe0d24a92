import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { nodeFiles } from "./node_files.ts";

Deno.test("writePrivateFile() replaces a file beside what a killed process has left, for its owner alone", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-host-" });
  try {
    const path = join(folder, "key.json");
    await Deno.writeTextFile(path, "old");
    await Deno.writeTextFile(`${path}.${process.pid}.new`, "half");
    await nodeFiles.writePrivateFile(path, "new", true);
    assert.equal(await Deno.readTextFile(path), "new");
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    assert.equal([...Deno.readDirSync(folder)].length, 2, "no draft of its own is left");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("writePrivateFile() without leave to replace keeps what is there", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-host-" });
  try {
    const path = join(folder, "sub/key.json");
    await nodeFiles.writePrivateFile(path, "first", false);
    await assert.rejects(nodeFiles.writePrivateFile(path, "second", false), { code: "EEXIST" });
    assert.equal(await Deno.readTextFile(path), "first");
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    assert.equal([...Deno.readDirSync(join(folder, "sub"))].length, 1, "no draft is left");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("writePrivateFile() shows a new file whole or not at all, to whoever looks meanwhile", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-host-" });
  try {
    const text = "x".repeat(4_000_000);
    for (let n = 0; n < 5; n++) {
      const path = join(folder, `key${n}.json`);
      let isDone = false;
      const writing = nodeFiles.writePrivateFile(path, text, false).finally(() => isDone = true);
      while (!isDone) {
        const seen = await Deno.stat(path).then(({ size }) => size, () => undefined);
        assert.ok(seen === undefined || seen === text.length, `${seen} bytes of ${text.length}`);
      }
      await writing;
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
