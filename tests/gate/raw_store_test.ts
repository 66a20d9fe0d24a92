import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "./read_project.ts";

/** Who may call Deno.Kv past the contract of the store, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  "server/storage/deno_kv/kv_backend.ts": "the adapter",
  "server/storage/lock_retry.ts": "what the adapter and the engine share",
  "server/storage/plan_group.ts": "the engine: commits of groups, with the deadline of their queue",
  "server/storage/group_commit.ts": "the engine",
  "server/storage/journal.ts": "the engine",
  "server/storage/journal_row.ts": "the engine",
  "server/storage/save_fence.ts": "the engine",
  "server/storage/replay_journal.ts": "the engine, at a start: as long as it takes",
  "server/storage/layout.ts":
    "the first call of a start, which has a deadline and words of its own",
  "server/open_embedded_store.ts": "opens it",
  "server/close_kv.ts": "closes it",
  "server/waiting/mark_watch.ts": "watches, which no other store can do",
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
