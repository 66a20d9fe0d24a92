import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../config/limits.ts";
import type { Description } from "./description.ts";
import { readDescription } from "./routes.ts";

Deno.test("GET /openapi.json makes a description that could not be made again when it is asked for again", async () => {
  let attempts = 0;
  const { handle } = readDescription.mount({
    limits: DEFAULT_LIMITS,
    describe() {
      if (++attempts === 1) return Promise.reject(new Error("no memory"));
      return Promise.resolve({ document: { openapi: "3.1.1" } } as Description);
    },
  });
  const context = { req: { raw: new Request("http://relay.test/openapi.json") } };
  const ask = async () => await handle(context as Parameters<typeof handle>[0]);
  await assert.rejects(ask, /no memory/);
  assert.deepEqual(await (await ask()).json(), { openapi: "3.1.1" });
});
