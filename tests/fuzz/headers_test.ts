/** Headers missing, doubled, garbled and too many, around good requests. */
import { isLong } from "../support/long_test.ts";
import { TestAgent, toBytes } from "../support/test_agent.ts";
import { askRaw } from "../support/raw_request.ts";
import type { Random } from "../support/loose_json.ts";
import { runCampaign } from "./fuzz_campaign.ts";
import { fillPath } from "./fuzz_routes.ts";
import { nat, pick } from "./hostile_json.ts";

const ROUNDS = isLong ? 40 : 12;
const ROUNDS_OF_OTHERS = isLong ? 6 : 3;

type Line = readonly [name: string, value: string];

const NAMES = [
  "X-Relay-Pubkey",
  "X-Relay-Timestamp",
  "X-Relay-Signature",
  "Authorization",
  "Idempotency-Key",
  "Content-Type",
  "Content-Encoding",
  "Accept",
  "Origin",
  "X-Forwarded-For",
  "X-Request-Id",
  "Range",
  "If-None-Match",
  "Cookie",
  "Upgrade",
  "TE",
  "__proto__",
];

const VALUES = [
  "",
  "0",
  "-1",
  "1e9",
  "99999999999999999999",
  "null",
  "Bearer",
  "Bearer ",
  "Bearer x",
  "Basic eDp4",
  "gzip",
  "identity",
  "application/json",
  "text/html",
  "*/*",
  "http://evil.example",
  "websocket",
  "bytes=0-1",
  "1.2.3.4, , 5.6.7.8, ::1, x",
  "A".repeat(86) + "==",
  "A".repeat(85) + "g==",
  "1".repeat(32),
  "z".repeat(44),
  "x".repeat(4_000),
  "\u00e9\u00ff",
  "a\tb",
  '"; drop table',
];

function hostile(good: readonly Line[], random: Random): Line[] {
  const lines = [...good];
  for (let i = 0; i < 1 + nat(3, random); i++) {
    const at = nat(lines.length, random);
    switch (nat(5, random)) {
      case 0:
        lines.splice(at, 1);
        break;
      case 1:
        if (lines[at] !== undefined) lines.splice(at, 0, lines[at]);
        break;
      case 2:
        if (lines[at] !== undefined) lines[at] = [lines[at][0], pick(VALUES, random)];
        break;
      case 3: {
        const [name, value] = lines[at] ?? ["X-A", "b"];
        const flip = nat(value.length + 1, random);
        lines[at] = [
          name,
          `${value.slice(0, flip)}${pick(["A", "=", " ", "", "é"], random)}${
            value.slice(flip + 1)
          }`,
        ];
        break;
      }
      default:
        lines.splice(at, 0, [pick(NAMES, random), pick(VALUES, random)]);
    }
  }
  if (random() < 0.02) { for (let i = 0; i < 90; i++) lines.push([`X-Many-${i}`, "x"]); }
  return lines;
}

Deno.test("hostile headers end in an answer of the contract", async () => {
  await runCampaign(
    { parserMayRefuse: true },
    async ({ relay, context, routes, random, judge }) => {
      for (const route of routes) {
        const rounds = route.body === undefined && route.query === undefined
          ? ROUNDS_OF_OTHERS
          : ROUNDS;
        for (let round = 0; round < rounds; round++) {
          const { method } = route;
          const target = fillPath(route, context);
          const body = toBytes(method === "GET" ? undefined : route.body?.(context) ?? {});
          const signer = random() < 0.9 ? context.alice : new TestAgent(relay);
          const good: Line[] = random() < 0.8
            ? Object.entries(signer.sign(method, target, body))
            : [["Authorization", `Bearer ${context.alice.ownerToken}`]];
          const headers = hostile(good, random);
          const what = `${method} ${target} ${JSON.stringify(headers).slice(0, 1_000)}`;
          await judge(what, route, () => askRaw(relay.port, { method, target, headers, body }));
        }
      }
    },
  );
});
