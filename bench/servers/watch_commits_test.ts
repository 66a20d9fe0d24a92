import assert from "node:assert/strict";
import { watchCommits } from "./watch_commits.ts";

Deno.test("watchCommits() tells of commits that write its rows, and of no other", async () => {
  using kv = await Deno.openKv(":memory:");
  const newestMs = watchCommits(kv, "mail");
  assert.equal(newestMs(), null);
  await kv.atomic().set(["other", 1], 1).commit();
  assert.equal(newestMs(), null);
  const beganMs = Date.now();
  const { ok } = await kv.atomic().set(["other", 2], 2).set(["mail", 1], 1).commit();
  assert.ok(ok);
  assert.equal((await kv.get(["mail", 1])).value, 1);
  const told = newestMs();
  assert.ok(told !== null && told >= beganMs && told <= Date.now());
});

Deno.test("watchCommits() does not tell of a commit that fails its checks", async () => {
  using kv = await Deno.openKv(":memory:");
  const newestMs = watchCommits(kv, "mail");
  await kv.set(["mail", 1], "there");
  const operation = kv.atomic().check({ key: ["mail", 1], versionstamp: null });
  const { ok } = await operation.set(["mail", 1], "new").commit();
  assert.ok(!ok);
  assert.equal(newestMs(), null);
});
