import assert from "node:assert/strict";
import { schemaRows, typeOf } from "./schema_rows.ts";

const DOCUMENT = {
  components: {
    schemas: {
      Node: {
        type: "object",
        required: ["id"],
        properties: {
          id: { type: "integer", minimum: 1, description: "Its id." },
          next: { $ref: "#/components/schemas/Node" },
        },
      },
    },
  },
};

Deno.test("schemaRows() names nested fields by their path, and ends where a schema holds itself", () => {
  const schema = {
    type: "object",
    required: ["nodes"],
    properties: {
      nodes: { type: "array", maxItems: 3, items: { $ref: "#/components/schemas/Node" } },
    },
  };
  const rows = schemaRows(schema, DOCUMENT);
  assert.deepEqual(rows[0], {
    name: "nodes",
    type: "array of object, at most 3 items",
    isOptional: false,
    words: "",
  });
  assert.deepEqual(rows[1], {
    name: "nodes[].id",
    type: "integer, from 1",
    isOptional: false,
    words: "Its id.",
  });
  assert.equal(rows[2]!.name, "nodes[].next");
  assert.equal(rows[2]!.isOptional, true);
  assert.ok(rows.length < 20, String(rows.length));
});

Deno.test("typeOf() says what a value may be", () => {
  const cases: [unknown, string][] = [
    [{ type: ["string", "null"], maxLength: 5 }, "string, at most 5 characters or null"],
    [{ type: "string", minLength: 1, maxLength: 5 }, "string, 1 to 5 characters"],
    [{ enum: ["a", "b"] }, '`"a"` or `"b"`'],
    [{ const: "x" }, '`"x"`'],
    [{ type: "string", format: "date-time" }, "time"],
    [{ anyOf: [{ type: "string" }, { type: "null" }, { type: "string" }] }, "string or null"],
    [{}, "any JSON"],
  ];
  assert.equal(cases.length, 7);
  for (const [schema, words] of cases) assert.equal(typeOf(schema, DOCUMENT), words);
});
