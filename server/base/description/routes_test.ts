import assert from "node:assert/strict";
import { Hono } from "hono";
import { DEFAULT_LIMITS } from "../config/limits.ts";
import type { HttpEnv } from "../http/routes/route.ts";
import type { Description } from "./description.ts";
import { readDescription } from "./routes.ts";

Deno.test("GET /openapi.json writes the description anew after it could not be written", async () => {
  let runs = 0;
  const describe = () =>
    ++runs === 1
      ? Promise.reject(new Error("out of memory"))
      : Promise.resolve({ document: { openapi: "3.1.0" } } as unknown as Description);
  const { handle } = readDescription.mount({ limits: DEFAULT_LIMITS, describe });
  const app = new Hono<HttpEnv>().get("/openapi.json", handle).onError((_, c) => c.text("", 500));
  const ask = () => app.request("/openapi.json");
  assert.equal((await ask()).status, 500);
  const second = await ask();
  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), { openapi: "3.1.0" });
  assert.equal((await ask()).status, 200);
  assert.equal(runs, 2);
});
