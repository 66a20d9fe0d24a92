import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../config/limits.ts";
import { mount, publicRoute, type RouteWords } from "./declaration.ts";

const FACTS = {
  method: "POST",
  path: "/v1/things/{id}",
  id: "makeThing",
  tag: "Service",
  summary: "Make a thing",
} as const;
const WORDS: RouteWords = { description: "Makes one.", answers: { 201: { description: "Made." } } };
const limits = { ...DEFAULT_LIMITS, rawBodyBytes: 77 };

Deno.test("a declaration is described without services, in the words of the setting", () => {
  const made = publicRoute({
    ...FACTS,
    words: ({ baseUrl }) => ({ ...WORDS, description: `At ${baseUrl}.` }),
    handle: () => () => assert.fail("nothing is handled"),
  });
  const operation = made.describe({ baseUrl: "http://a.example", limits, mailOn: false });
  assert.deepEqual(JSON.parse(JSON.stringify(operation)), {
    ...FACTS,
    method: "post",
    access: [],
    description: "At http://a.example.",
    answers: WORDS.answers,
  });
});

Deno.test("mount() makes each handler once, and takes body limits from the limits in force", () => {
  let made = 0;
  const handle = ({ answer }: { answer: Response }) => {
    made++;
    return () => answer;
  };
  const answer = new Response();
  const [named, given, none] = mount([
    publicRoute({ ...FACTS, words: WORDS, bodyLimit: "rawBodyBytes", handle }),
    publicRoute({ ...FACTS, words: WORDS, bodyLimit: 5, page: true, cors: "none", handle }),
    publicRoute({ ...FACTS, words: WORDS, handle }),
  ], { limits, answer });
  assert.equal(made, 3);
  for (const route of [named, given, none]) {
    for (let i = 0; i < 2; i++) assert.equal(route!.handle(undefined as never), answer);
  }
  assert.equal(made, 3);
  assert.deepEqual(named!.body, { limitBytes: 77, pool: "messages" });
  assert.deepEqual(given!.body, { limitBytes: 5, pool: "messages" });
  assert.deepEqual([given!.page, given!.cors], [true, "none"]);
  assert.equal(none!.body, undefined);
});
