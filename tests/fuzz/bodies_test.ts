/** Hostile bodies, well signed or with a good token, on every route that reads one. */
import { isLong } from "../support/long_test.ts";
import { askRaw } from "../support/raw_request.ts";
import { ADMIN_TOKEN, runCampaign, showBytes } from "./fuzz_campaign.ts";
import { fillPath } from "./fuzz_routes.ts";
import { hostileBody, pick } from "./hostile_json.ts";

const ROUNDS_OF_KNOWN = isLong ? 100 : 25;
const ROUNDS_OF_OTHERS = 4;

Deno.test("hostile bodies end in an answer of the contract and leave the store alone", async () => {
  await runCampaign({}, async ({ relay, context, routes, random, judge }) => {
    for (const route of routes) {
      if (route.method === "GET") continue;
      const rounds = route.body === undefined ? ROUNDS_OF_OTHERS : ROUNDS_OF_KNOWN;
      for (let round = 0; round < rounds; round++) {
        const good = route.body?.(context) ?? { id: "x", name: "y", token: "z" };
        const body = hostileBody(good, random);
        const target = fillPath(route, context);
        const credential = pick(credentialsOf(target), random);
        const headers = credential === "none"
          ? {}
          : credential === "signature"
          ? context.alice.sign(route.method, target, body)
          : {
            Authorization: `Bearer ${
              credential === "admin" ? ADMIN_TOKEN : context.alice.ownerToken
            }`,
          };
        const request = { method: route.method, target, headers, body };
        const what = `${route.method} ${target} ${credential} ${showBytes(body)}`;
        await judge(what, route, () => askRaw(relay.port, request));
      }
    }
  });
});

/** Mostly credentials that get a body read at all; once in a while one that does not. */
function credentialsOf(target: string): readonly ("none" | "signature" | "owner" | "admin")[] {
  if (target.startsWith("/v1/admin/")) return ["admin", "admin", "admin", "signature"];
  if (target === "/v1/register" || target.startsWith("/mcp")) return ["none", "none", "signature"];
  return ["signature", "signature", "signature", "signature", "signature", "owner", "none"];
}
