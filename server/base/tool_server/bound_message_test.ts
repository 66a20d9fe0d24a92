import assert from "node:assert/strict";
import { boundMessage } from "./bound_message.ts";

const LIMIT = 16_384;

/** How many values a value is made of. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + countOf(member), 1);
}

function depthOf(value: unknown): number {
  let depth = 0;
  for (let at = value; typeof at === "object" && at !== null; at = Object.values(at)[0]) depth++;
  return depth;
}

Deno.test("boundMessage() passes small messages on as they are, their arguments set aside", () => {
  const args = { token: "t", deep: { a: [1] } };
  const message = { jsonrpc: "2.0", id: 1, method: "m", params: { name: "n", arguments: args } };
  const bounded = boundMessage(message, LIMIT)!;
  assert.deepEqual(bounded.message, { ...message, params: { name: "n", arguments: {} } });
  assert.equal(bounded.args, args);
  for (const [given, left] of [["text", ""], [[1], []], [7, 7], [null, null]]) {
    const params = { arguments: given };
    assert.deepEqual(boundMessage({ params }, LIMIT), {
      message: { params: { arguments: left } },
      args: {},
    });
  }
  for (const other of [null, 5, "text", [], {}, { params: 3 }, { params: [1] }]) {
    assert.deepEqual(boundMessage(other, LIMIT), { message: other, args: {} });
  }
});

Deno.test("boundMessage() counts the bytes of JSON without spaces, and no arguments", () => {
  const messages = [
    { a: 1, "\u00e4": '\u20ac\n"', c: [true, null, -1.5e300, [], {}, "", [[0]]] },
    { params: { _meta: { "x/y": { z: [1, 2] } } }, id: "\ud83d\ude00" },
    [],
    "text",
    12,
  ];
  for (const message of messages) {
    const sizeBytes = new TextEncoder().encode(JSON.stringify(message)).length;
    assert.notEqual(boundMessage(message, sizeBytes), null, JSON.stringify(message));
    assert.equal(boundMessage(message, sizeBytes - 1), null, JSON.stringify(message));
  }
  const large = { params: { arguments: { a: "x".repeat(100_000) } } };
  assert.notEqual(boundMessage(large, 13), null);
  // Only arguments inside params are a tool's.
  assert.equal(boundMessage({ arguments: large.params.arguments }, LIMIT), null);
  assert.equal(boundMessage({ params: { _meta: { arguments: large } } }, LIMIT), null);
});

Deno.test("boundMessage() leaves out of very many values what the protocol does not demand", () => {
  const filler = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`f${i}`, [0]]));
  const clientInfo = { ...filler, name: "n", version: "v" };
  const wide = { params: { ...filler, _meta: filler, clientInfo }, jsonrpc: "2.0", id: 1 };
  // deno-lint-ignore no-explicit-any -- the fields are asserted
  const { params, ...rest } = boundMessage(wide, 1e6)!.message as any;
  assert.deepEqual(rest, { jsonrpc: "2.0", id: 1 });
  assert.deepEqual([params.clientInfo.name, params.clientInfo.version], ["n", "v"]);
  assert.ok(countOf(params) <= 500);
  const deep = JSON.parse('{"params":'.repeat(1_000) + "0" + "}".repeat(1_000));
  assert.ok(depthOf(boundMessage(deep, LIMIT)!.message) <= 501);
  const list = boundMessage({ icons: new Array(3_000).fill("x") }, LIMIT)!.message;
  assert.deepEqual(list, { icons: new Array(64).fill("x") });
  const inherited = JSON.parse(`{"__proto__": {"polluted": 1}, "a": [${"0,".repeat(600)}0]}`);
  const copy = boundMessage(inherited, LIMIT)!.message as Record<string, unknown>;
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.ok(Object.hasOwn(copy, "__proto__"));
});
