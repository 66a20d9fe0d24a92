import assert from "node:assert/strict";
import { RecentEvents } from "./recent_events.ts";

Deno.test("RecentEvents passes lines on and keeps the newest, cut where they are long", () => {
  const passed: string[] = [];
  let nowMs = 0;
  const recent = new RecentEvents(3, () => ++nowMs);
  const log = recent.through((event) => void passed.push(event));
  log("first");
  for (const event of ["second", "third"]) log(event, { n: 1 });
  log("fourth", { message: "x".repeat(5_000) });
  assert.deepEqual(passed, ["first", "second", "third", "fourth"]);
  const events = recent.newestFirst();
  assert.deepEqual(events.map(({ atMs, event }) => [atMs, event]), [
    [4, "fourth"],
    [3, "third"],
    [2, "second"],
  ]);
  assert.equal(events[2]!.fields, '{"n":1}');
  assert.equal(events[0]!.fields.length, 1_004);
});
