import assert from "node:assert/strict";
import type { Relay } from "../../server/relay.ts";
import { checkAnswers } from "./checked_app.ts";

const HEADERS = { "Content-Type": "application/json; charset=utf-8", "X-Request-Id": "a-1" };

function appThatAnswers(answer: () => Response): Pick<Relay["app"], "fetch"> {
  return { fetch: answer };
}

Deno.test("checkAnswers() passes answers on as they are", async () => {
  const app = checkAnswers(
    appThatAnswers(() => Response.json({ ok: true }, { headers: HEADERS })),
  );
  const answer = await app.fetch(new Request("http://relay.test/health"));
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
  assert.equal(answer.headers.get("x-request-id"), "a-1");
  app.assertDescribed();
});

Deno.test("checkAnswers() remembers what was not as described, and says it", async () => {
  const app = checkAnswers(
    appThatAnswers(() => Response.json({ ok: "yes" }, { status: 200, headers: HEADERS })),
  );
  await app.fetch(new Request("http://relay.test/health"));
  await app.fetch(new Request("http://relay.test/nowhere"));
  assert.throws(() => app.assertDescribed(), (error: Error) => {
    assert.match(error.message, /GET \/health 200: \/ok must be/);
    assert.match(error.message, /GET \/nowhere 200: status 200 instead of 404/);
    return true;
  });
});
