import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readProject } from "./read_project.ts";

/** Who may call Deno.Kv past the contract of the store: what keeps it, and what opens and closes it. */
const KEEPS_IT = ["server/storage/"];
const OPENS_IT = ["server/open_embedded_store.ts", "server/close_kv.ts"];
/** A probe of the store itself, and watching, which no other store has. */
const ASKS_IT_ALONE = ["server/health.ts", "server/waiting/mark_watch.ts"];
/** What reads by the contract in part only. */
const LEFT = [
  "server/blobs/",
  "server/outgoing/",
  "server/mail/sending/large_answers.ts",
  "server/messages/send/accepted_sends.ts",
];
const ALLOWED = [...KEEPS_IT, ...OPENS_IT, ...ASKS_IT_ALONE, ...LEFT];

const CALL =
  /\bkv\.(?:get|getMany|list|set|delete|atomic|watch)\b|\b(?:retryWhileLocked|listRows)[(<]/;

Deno.test("no file calls Deno.Kv past the contract of the store but those that are named", async () => {
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const calling = (await readProject(root))
    .filter(({ path }) => /^server\/.*\.ts$/.test(path) && !path.endsWith("_test.ts"))
    .filter(({ text }) =>
      text.split("\n").some((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && CALL.test(line))
    )
    .map(({ path }) => path);
  assert.ok(calling.includes("server/storage/deno_kv/kv_backend.ts"));
  assert.deepEqual(calling.filter((path) => !ALLOWED.some((name) => path.startsWith(name))), []);
  for (const name of ALLOWED) {
    assert.ok(
      calling.some((path) => path.startsWith(name)),
      `${name} does not any more: take it off`,
    );
  }
});
