import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { verdictPainter } from "./describe_report.ts";

const TERMINAL = { terminals: ["stdout"] } as const;

Deno.test("verdictPainter() colors on a terminal only, and not where that is unwanted", () => {
  const painted = (state: Parameters<typeof memoryHost>[1]) =>
    verdictPainter(memoryHost([], state))("FALSE: x");
  assert.equal(painted(TERMINAL), "\u001b[31mFALSE\u001b[0m: x");
  assert.equal(painted({ ...TERMINAL, env: { NO_COLOR: "" } }), "\u001b[31mFALSE\u001b[0m: x");
  assert.equal(painted({}), "FALSE: x");
  assert.equal(painted({ ...TERMINAL, env: { NO_COLOR: "1" } }), "FALSE: x");
  assert.equal(painted({ ...TERMINAL, env: { TERM: "dumb" } }), "FALSE: x");
});

Deno.test("verdictPainter() colors how a line begins and nothing that a message says", () => {
  const paint = verdictPainter(memoryHost([], TERMINAL));
  assert.equal(paint("passed: x"), "\u001b[32mpassed\u001b[0m: x");
  assert.equal(paint("FALSE: passed: x"), "\u001b[31mFALSE\u001b[0m: passed: x");
  assert.equal(paint("malformed: x"), "\u001b[31mmalformed\u001b[0m: x");
  assert.equal(paint("not bound: x"), "\u001b[33mnot bound\u001b[0m: x");
  assert.equal(paint("message FALSE: x"), "message FALSE: x");
});
