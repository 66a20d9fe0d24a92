import assert from "node:assert/strict";
import { othersCores, ticksOf } from "./machine_load.ts";

const stat = (pid: number, parent: number, ticks: number, name = "deno") =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 9 9 9 9 ${ticks} ${ticks} ${ticks} ${ticks} 20 0 1`;

Deno.test("ticksOf() counts a process, its descendants, what they waited for, and the kernel's threads", () => {
  const stats = [
    stat(1, 0, 1_000),
    stat(2, 0, 0, "kthreadd"),
    stat(70, 2, 1, "kworker/0:1"),
    stat(100, 1, 10),
    stat(101, 100, 20, "a name) S 1 (of two"),
    stat(102, 101, 30),
    stat(200, 1, 5_000),
  ];
  assert.equal(ticksOf(stats, 100), 4 * (1 + 10 + 20 + 30));
});

Deno.test("othersCores() is what ran beside the benchmark, by the clock", () => {
  const before = { atSeconds: 10, busy: 100, ours: 40 };
  assert.equal(othersCores(before, { atSeconds: 20, busy: 115, ours: 50 }), 0.5);
  assert.equal(othersCores(before, { atSeconds: 20, busy: 109, ours: 50 }), 0);
  assert.equal(othersCores(null, before), undefined);
});
