import assert from "node:assert/strict";
import { RequestsUnderWay } from "./requests_under_way.ts";

Deno.test("RequestsUnderWay counts a request until it is answered, at once or later, or fails", async () => {
  const requests = new RequestsUnderWay();
  assert.equal(requests.counted(() => requests.count), 1);
  assert.equal(requests.count, 0);
  assert.throws(() =>
    requests.counted(() => {
      throw new Error("refused");
    }), /refused/);
  assert.equal(requests.count, 0);
  const answered = Promise.withResolvers<string>();
  const failed = Promise.withResolvers<string>();
  const both = [requests.counted(() => answered.promise), requests.counted(() => failed.promise)];
  assert.equal(requests.count, 2);
  let isIdle = false;
  const idle = requests.idle().then(() => isIdle = true);
  answered.resolve("answer");
  assert.equal(await both[0], "answer");
  assert.deepEqual([requests.count, isIdle], [1, false]);
  failed.reject(new Error("failed"));
  await assert.rejects(async () => await both[1], /failed/);
  assert.equal(requests.count, 0);
  await idle;
  await requests.idle();
});
