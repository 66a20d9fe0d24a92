import assert from "node:assert/strict";
import { join } from "node:path";
import { custodyKeyPath, openCustodyKeys } from "./open_custody_keys.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
const local = (dataDir: string) => ({ custodyKeys: [], hosted: false, dataDir });

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-custody-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("openCustodyKeys() makes a key for a local run, for its owner's eyes only, and finds it again", () =>
  withFolder(async (folder) => {
    const dataDir = join(folder, "data");
    const [made, ...others] = await openCustodyKeys(local(dataDir), random, true);
    assert.equal(made!.length, 32);
    assert.deepEqual(others, []);
    const { mode } = await Deno.stat(custodyKeyPath({ dataDir }));
    if (Deno.build.os !== "windows") assert.equal(mode! & 0o777, 0o600);
    assert.deepEqual(await openCustodyKeys(local(dataDir), random, true), [made]);
    assert.deepEqual(await openCustodyKeys(local(dataDir), random, false), [made]);
    assert.deepEqual((await Array.fromAsync(Deno.readDir(dataDir))).map(({ name }) => name), [
      "custody.key",
    ]);
  }));

Deno.test("openCustodyKeys() begun by many relays at once gives all of them one key", () =>
  withFolder(async (folder) => {
    const opened = await Promise.all(
      Array.from({ length: 12 }, () => openCustodyKeys(local(folder), random, true)),
    );
    assert.equal(new Set(opened.map(([key]) => key!.join())).size, 1);
  }));

Deno.test("openCustodyKeys() takes configured keys as they are, and makes none beside them", () =>
  withFolder(async (folder) => {
    const custodyKeys = [random(32), random(32)];
    const given = { ...local(folder), custodyKeys };
    assert.deepEqual(await openCustodyKeys(given, random, true), custodyKeys);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(folder)), []);
  }));

Deno.test("openCustodyKeys() makes none for a hosted relay, nor where the store has another", () =>
  withFolder(async (folder) => {
    assert.deepEqual(await openCustodyKeys({ ...local(folder), hosted: true }, random, true), []);
    assert.deepEqual(await openCustodyKeys(local(folder), random, false), []);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(folder)), []);
  }));

Deno.test("openCustodyKeys() stops at a damaged key file instead of making another", () =>
  withFolder(async (folder) => {
    for (const text of ["", "not base64!", "AAAA", "A".repeat(44)]) {
      await Deno.writeTextFile(custodyKeyPath({ dataDir: folder }), text);
      await assert.rejects(openCustodyKeys(local(folder), random, true), /custody\.key must hold/);
    }
  }));
