/** The schemas of the description and the parsers of the relay judge the same requests alike. */
import assert from "node:assert/strict";
import type { z } from "@hono/zod-openapi";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Operation } from "../../../server/base/description/operation.ts";
import { describeAll } from "../../../server/base/description/declaration.ts";
import { ROUTES } from "../../../server/routes.ts";
import { requireIdempotencyKey } from "../../../server/base/idempotency/idempotency_key.ts";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { type Answer, ask, assertRefused } from "../../support/answer.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { type Json, readDocument } from "./read_document.ts";
import { BANS, PROFILE_UPDATES, PURGES, queries, REGISTRATIONS, SENDS } from "./request_corpus.ts";

const ADMIN_TOKEN = "agreement-".repeat(4);
const LIMITS = {
  registrationsPerIpPerHour: 1_000_000,
  sendsPerAgentPerMinute: 1_000_000,
  searchesPerIpPerMinute: 1_000_000,
  inboxPollIntervalMs: 0,
};
const OPERATIONS = describeAll(ROUTES, {
  baseUrl: "http://127.0.0.1",
  limits: DEFAULT_LIMITS,
  mailOn: false,
});

type Body = (typeof SENDS)[number];

/** How requests of a route are made, and how many of each verdict its corpus has at least. */
interface Trial {
  route: string;
  corpus: readonly Body[];
  ask(relay: TestRelay, alice: TestAgent, body: Body): Promise<Answer>;
  /** Refusals that a good request may meet all the same, behind the parser. */
  behind: readonly string[];
  /** True where JSON Schema can say all of the rules: what it takes, the relay takes. */
  isWhole?: true;
}

const TRIALS: readonly Trial[] = [
  {
    route: "post /v1/register",
    corpus: REGISTRATIONS,
    ask: (relay, _, body) =>
      ask(`${relay.url}/v1/register`, { method: "POST", body: JSON.stringify(body) }),
    behind: ["handle_taken", "reserved_handle"],
  },
  {
    route: "post /v1/messages",
    corpus: SENDS,
    ask: (_relay, alice, body) => alice.send(JSON.stringify(body)),
    behind: ["not_found"],
  },
  {
    route: "patch /v1/agents/me",
    corpus: PROFILE_UPDATES,
    ask: (_relay, alice, body) =>
      alice.call("PATCH", "/v1/agents/me", { body: JSON.stringify(body) }),
    behind: [],
    isWhole: true,
  },
  {
    route: "post /v1/admin/ban",
    corpus: BANS,
    ask: (_relay, alice, body) =>
      alice.bearer("POST", "/v1/admin/ban", { token: ADMIN_TOKEN, body: JSON.stringify(body) }),
    behind: ["not_found"],
  },
  {
    route: "post /v1/admin/purge",
    corpus: PURGES,
    ask: (_relay, alice, body) =>
      alice.bearer("POST", "/v1/admin/purge", { token: ADMIN_TOKEN, body: JSON.stringify(body) }),
    behind: ["not_found"],
  },
];

function operationOf(route: string): Operation {
  const found = OPERATIONS.find(({ method, path }) => `${method} ${path}` === route);
  assert.ok(found !== undefined, route);
  return found;
}

function startRelay(): Promise<TestRelay> {
  return startTestRelay({ limits: LIMITS, config: { adminToken: ADMIN_TOKEN } });
}

for (const { route, corpus, ask, behind, isWhole } of TRIALS) {
  Deno.test(`schema and parser of ${route} agree on every body of the corpus`, async () => {
    await using relay = await startRelay();
    const alice = await registerAgent(relay, "alice");
    await registerAgent(relay, "bob");
    const schema = operationOf(route).body!.schema as z.ZodType;
    const published = publishedValidator(await readDocument(relay), route);
    const verdicts = { good: 0, bad: 0 };
    for (const body of corpus) {
      const what = JSON.stringify(body).slice(0, 300);
      const { success } = schema.safeParse(JSON.parse(JSON.stringify(body)));
      const answer = await ask(relay, alice, body);
      const accepted = answer.status < 300 || behind.includes(answer.json?.error?.code);
      if (!accepted) {
        assert.ok([400, 413].includes(answer.status), `${what}: ${answer.status} ${answer.text}`);
      }
      assert.equal(success, accepted, `${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
      // JSON Schema does not know trimming: what it refuses of untrimmed text is a matter of taste.
      if (accepted) assert.ok(published(tidied(body)), `${what}: the published schema refuses it`);
      else if (isWhole) assert.ok(!published(body), `${what}: the published schema takes it`);
      verdicts[accepted ? "good" : "bad"]++;
    }
    assert.ok(verdicts.good >= 3 && verdicts.bad >= 3, JSON.stringify(verdicts));
  });
}

Deno.test("schemas and parsers agree on every query of the corpus", async () => {
  await using relay = await startRelay();
  const alice = await registerAgent(relay, "alice");
  await alice.sent({ to: "alice", body: "so that no poll waits" });
  const operations = OPERATIONS.filter(({ query }) => query !== undefined);
  assert.ok(operations.length >= 4, String(operations.length));
  for (const operation of operations) {
    const { method, path, query } = operation;
    const verdicts = { good: 0, bad: 0 };
    for (const text of queries(Object.keys(query!.shape))) {
      const what = `${method} ${path}?${text.slice(0, 200)}`;
      const { success } = query!.safeParse(parametersOf(text));
      const token = operation.access.includes("adminToken") ? ADMIN_TOKEN : undefined;
      const answer = await alice.bearer(method.toUpperCase(), path, { query: text, token });
      if (answer.status !== 200) assertRefused(answer, "invalid_json");
      assert.equal(success, answer.status === 200, `${what}: ${answer.text.slice(0, 300)}`);
      verdicts[success ? "good" : "bad"]++;
    }
    assert.ok(verdicts.good >= 5 && verdicts.bad >= 3, `${path} ${JSON.stringify(verdicts)}`);
  }
});

Deno.test("schema and parser agree on every Idempotency-Key", () => {
  const { headers } = operationOf("post /v1/messages");
  const schema = headers!.shape["Idempotency-Key"] as z.ZodType;
  for (
    const key of [
      "",
      " ",
      "a",
      "~",
      "k".repeat(255),
      "k".repeat(256),
      "é",
      "a\tb",
      "a\u007f",
      '"q"',
    ]
  ) {
    const isTaken = (() => {
      try {
        requireIdempotencyKey(key, "key");
        return true;
      } catch {
        return false;
      }
    })();
    assert.equal(schema.safeParse(key).success, isTaken, JSON.stringify(key));
  }
});

/** Repeated parameters become arrays, which no parameter takes. */
function parametersOf(query: string): Record<string, string | string[]> {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

function publishedValidator(document: Json, route: string): (value: unknown) => boolean {
  const [method, path] = route.split(" ") as [string, string];
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, "description");
  const { $ref } = document.paths[path][method].requestBody.content["application/json"].schema;
  return ajv.compile({ $ref: `description${$ref}` });
}

/** Without the space and the repetitions that the relay drops. */
function tidied(value: unknown): unknown {
  if (typeof value === "string") return value.trim();
  if (Array.isArray(value)) {
    const byName = new Map(
      value.map(tidied).map((one) => [JSON.stringify(one).toLowerCase(), one]),
    );
    return [...byName.values()];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tidied(one)]));
}
