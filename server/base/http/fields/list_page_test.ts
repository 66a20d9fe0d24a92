import assert from "node:assert/strict";
import { answerList, LIST_QUERY } from "./list_page.ts";
import { readQuery } from "./query.ts";

Deno.test("LIST_QUERY clamps limit into 1..100, 50 unless given", () => {
  const limitOf = (query: string) => readQuery(query, LIST_QUERY).limit;
  assert.equal(limitOf(""), 50);
  assert.equal(limitOf("limit=0"), 1);
  assert.equal(limitOf("limit=100"), 100);
  assert.equal(limitOf("limit=101"), 100);
  assert.equal(readQuery("cursor=abc", LIST_QUERY).cursor, "abc");
  assert.equal(readQuery("", LIST_QUERY).cursor, undefined);
});

Deno.test("answerList() answers data and next_cursor as JSON", async () => {
  const page = answerList(['{"id":1}', '{"id":2}'], "abc", { "Cache-Control": "no-store" });
  assert.equal(page.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(page.headers.get("cache-control"), "no-store");
  assert.deepEqual(await page.json(), { data: [{ id: 1 }, { id: 2 }], next_cursor: "abc" });
  assert.deepEqual(await answerList([], null).json(), { data: [], next_cursor: null });
});
