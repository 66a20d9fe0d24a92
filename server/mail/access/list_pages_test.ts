import assert from "node:assert/strict";
import type { Context } from "hono";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import { ListPages } from "./list_pages.ts";

const pages = new ListPages({ key: () => Promise.resolve(new Uint8Array(32)) });

function read(query: string, org = "org_1") {
  const request: Record<string, string> = { query, path: "/v1/mail/things" };
  return pages.read({ get: (name: string) => request[name] } as Context<HttpEnv>, { org });
}

Deno.test("ListPages.read() clamps limit into 1..100, 50 unless given", async () => {
  const limits = ["limit=0", "limit=101", "limit=7", ""].map(async (query) =>
    (await read(query)).limit
  );
  assert.deepEqual(await Promise.all(limits), [1, 100, 7, 50]);
});

Deno.test("ListPages.read() answers rows as JSON, and goes on behind its cursor in the same list alone", async () => {
  const first = await read("");
  assert.equal(first.after, null);
  const answer = first.answerJson(['{"id":1}', '{"id":2}'], ["b", 2]);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { data, next_cursor } = await answer.json();
  assert.deepEqual(data, [{ id: 1 }, { id: 2 }]);
  const second = await read(`cursor=${next_cursor}`);
  assert.deepEqual(second.after, ["b", 2]);
  assert.deepEqual(await second.answer([], null).json(), { data: [], next_cursor: null });
  await assert.rejects(read(`cursor=${next_cursor}`, "org_2"), { code: "invalid_json" });
});
