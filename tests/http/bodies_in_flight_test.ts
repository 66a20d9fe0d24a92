import assert from "node:assert/strict";
import { createBodyReader } from "../../server/http/body.ts";
import type { Route } from "../../server/http/route.ts";
import { startApp } from "../support/app_server.ts";
import { ask, assertErrorShape } from "../support/answer.ts";

Deno.test("bodies beyond the room for them are answered 503 with Retry-After, and later ones accepted", async () => {
  const held = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const bodies = createBodyReader({ startTicker: () => () => {} });
  const routes: Route[] = [{
    method: "POST",
    path: "/v1/hold",
    async handle(c) {
      const body = await bodies.read(c.req.raw, 1000);
      entered.resolve();
      await held.promise;
      return new Response(body.length === 0 ? null : body, { status: 200 });
    },
  }, {
    method: "POST",
    path: "/v1/fail",
    handle: () => Promise.reject(new Error("broken")),
  }];
  const bodyBounds = { totalBytes: 0, smallBytes: 1000, smallTotalBytes: 1200 };
  await using app = await startApp(routes, { bodyBounds });
  const post = (path: string, sizeBytes: number) =>
    ask(`${app.url}${path}`, { method: "POST", body: "x".repeat(sizeBytes) });
  for (let i = 0; i < 5; i++) assert.equal((await post("/v1/fail", 700)).status, 500);
  const first = post("/v1/hold", 800);
  await entered.promise;
  const refused = await post("/v1/hold", 401);
  assert.equal(refused.status, 503);
  assert.equal(assertErrorShape(refused), "unavailable");
  assert.equal(refused.headers.get("retry-after"), "1");
  const beside = post("/v1/hold", 400);
  held.resolve();
  assert.deepEqual((await Promise.all([first, beside])).map(({ status }) => status), [200, 200]);
  assert.equal((await post("/v1/hold", 1000)).status, 200);
});
