import assert from "node:assert/strict";
import { createLog } from "./json_log.ts";

Deno.test("createLog() writes one JSON object a line", () => {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line), () => Date.UTC(2026, 0, 2));
  log("stopping", { signal: "SIGTERM", pid: 7, text: "two\nlines" });
  log("stopped");
  assert.equal(lines.length, 2);
  assert.ok(lines.every((line) => line.indexOf("\n") === line.length - 1));
  assert.deepEqual(JSON.parse(lines[0]!), {
    time: "2026-01-02T00:00:00.000Z",
    event: "stopping",
    signal: "SIGTERM",
    pid: 7,
    text: "two\nlines",
  });
  assert.deepEqual(JSON.parse(lines[1]!), { time: "2026-01-02T00:00:00.000Z", event: "stopped" });
});

Deno.test("createLog() outlives a pipe that was closed", () => {
  const log = createLog(() => {
    throw new Deno.errors.BrokenPipe("closed");
  });
  log("anything");
});
