/** Hostile methods, paths and queries, well signed for exactly what is sent. */
import { isLong } from "../support/long_test.ts";
import { askRaw } from "../support/raw_request.ts";
import { runCampaign } from "./fuzz_campaign.ts";
import { fillPath } from "./fuzz_routes.ts";
import { hostileMethod, hostilePath, hostileQuery } from "./hostile_target.ts";

const ROUNDS = isLong ? 14 : 5;
const ROUNDS_OF_QUERIES = isLong ? 60 : 20;

Deno.test("hostile methods and paths end in an answer of the contract", async () => {
  const options = { parserMayRefuse: true, mayEndUnanswered: true };
  await runCampaign(options, async ({ relay, context, routes, random, judge }) => {
    for (const route of routes) {
      for (let round = 0; round < ROUNDS; round++) {
        const path = fillPath(route, context);
        const target = random() < 0.7 ? hostilePath(path, random) : path;
        const method = random() < 0.5 ? hostileMethod(random) : route.method;
        const headers = signed(context.alice.sign.bind(context.alice), method, target);
        const what = `${method} ${target.slice(0, 500)}`;
        await judge(what, route, () => askRaw(relay.port, { method, target, headers }));
      }
    }
  });
});

Deno.test("hostile queries end in a page or in invalid_json", async () => {
  await runCampaign({}, async ({ relay, context, routes, random, judge }) => {
    for (const route of routes) {
      if (route.method !== "GET") continue;
      const rounds = route.query === undefined ? ROUNDS_OF_QUERIES / 10 : ROUNDS_OF_QUERIES;
      for (let round = 0; round < rounds; round++) {
        const path = fillPath(route, context);
        const target = `${path}?${hostileQuery(route.query ?? [], random)}`;
        const method = random() < 0.8 ? "GET" : "HEAD";
        const headers = context.alice.sign(method, path);
        const what = `${method} ${target.slice(0, 500)}`;
        await judge(what, route, () => askRaw(relay.port, { method, target, headers }));
      }
    }
  });
});

/** A signature where the client can make one: not for methods and paths that no request may have. */
function signed(
  sign: (method: string, path: string) => Record<string, string>,
  method: string,
  path: string,
): Record<string, string> {
  try {
    return sign(method, path);
  } catch (error) {
    if (error instanceof TypeError) return sign("GET", "/");
    throw error;
  }
}
