import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "./read_project.ts";

/** Files that may call Deno.Kv past the contract of the store, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  "server/base/storage/deno_kv/kv_backend.ts": "the adapter",
  "server/base/storage/deno_kv/lock_retry.ts": "of the adapter",
  "server/base/storage/deno_kv/close_kv.ts": "closes it",
};

const CALL = /\bkv\.(?:get|getMany|list|set|delete|atomic|watch)\b|\bretryWhileLocked[(<]/;

Deno.test("no file calls Deno.Kv past the contract of the store but those that are named", async () => {
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const calling = (await readProject(root))
    .filter(({ path }) => /^server\/.*\.ts$/.test(path) && !path.endsWith("_test.ts"))
    .filter(({ text }) =>
      text.split("\n").some((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && CALL.test(line))
    )
    .map(({ path }) => path);
  assert.deepEqual(calling.sort(), Object.keys(ALLOWED).sort());
});
