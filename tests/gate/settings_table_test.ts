import assert from "node:assert/strict";
import { SETTING_NAMES } from "../../server/base/config/setting_names.ts";

const DOCUMENT = new URL("../../docs/operations.md", import.meta.url);

Deno.test("docs/operations.md has each setting in its table, once, and nothing else", async () => {
  const [, table] = /^\| variable \| default \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)/m
    .exec(await Deno.readTextFile(DOCUMENT))!;
  const named = table!.trim().split("\n").flatMap((row) =>
    [...row.split("|")[1]!.matchAll(/`([^`]*)`/g)].map(([, name]) => name!)
  );
  assert.deepEqual(named.sort(), [...SETTING_NAMES]);
});
