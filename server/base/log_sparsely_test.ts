import assert from "node:assert/strict";
import { logSparsely } from "./log_sparsely.ts";

Deno.test("logSparsely() logs one failure in ten seconds, of each event", () => {
  const lines: string[] = [];
  let nowMs = 0;
  const log = (event: string, fields?: Record<string, unknown>) =>
    void lines.push(`${event} ${fields?.message}`);
  const writes = logSparsely(log, "store_write_failed", () => nowMs);
  const figures = logSparsely(log, "figures_failed", () => nowMs);
  writes(new Error("full"));
  writes(new Error("still full"));
  figures(new Error("full"));
  nowMs = 9_999;
  writes(new Error("still full"));
  nowMs = 10_000;
  writes(new Error("full again"));
  assert.deepEqual(lines, [
    "store_write_failed full",
    "figures_failed full",
    "store_write_failed full again",
  ]);
});
