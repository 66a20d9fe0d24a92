import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { InputError, UsageError } from "./failure.ts";
import { wholeNumber } from "./readers.ts";
import { defineVerb, flag, helpOf, list, option, runVerb } from "./verb.ts";

const heard: unknown[] = [];

const VERB = defineVerb({
  name: "try",
  summary: "take what is given",
  args: "FIRST [SECOND]",
  hint: "pass any",
  about: "\nIt does nothing.",
  options: {
    count: option("N", "how many, from 1 to 9", wholeNumber(1, 9)),
    word: list("W", `a word ${"and another ".repeat(9)}`),
    empty: option("=TEXT", "may be empty"),
    json: flag("print {}"),
  },
  exit: "0",
  async run({ values, args: [first, second], print }) {
    // Their types come from the declaration.
    const count: number = values.count ?? 0;
    const words: readonly string[] = values.word ?? [];
    heard.push([count, words, values.empty, first.length, second?.length]);
    await print({ count }, `counted ${count}\n`);
  },
});

async function tried(...args: string[]) {
  const host = memoryHost([]);
  heard.length = 0;
  const code = await runVerb(VERB, args, host);
  return { code, out: host.out, heard: heard[0] };
}

Deno.test("runVerb() gives a verb its values and arguments as they were declared", async () => {
  assert.deepEqual(await tried("one"), {
    code: 0,
    out: "counted 0\n",
    heard: [0, [], undefined, 3, undefined],
  });
  const given = ["--count", "2", "--word", "a", "one", "--word=-b", "--empty=", "--count=3"];
  assert.deepEqual(await tried(...given, "--json", "--", "--two"), {
    code: 0,
    out: '{"count":3}\n',
    heard: [3, ["a", "-b"], "", 3, 5],
  });
});

Deno.test("runVerb() refuses what was not declared, by the name that the caller gave it", async () => {
  const wrong: [string[], string][] = [
    [[], "FIRST is missing: pass any"],
    [["a", "b", "c"], "unexpected argument 'c'"],
    [["a", "--count=0"], "--count takes a whole number from 1 to 9, not '0'"],
    [["a", "--count=2", "--count=x"], "--count takes a whole number from 1 to 9, not 'x'"],
    [
      ["a", "--cuont=1"],
      "Unknown option '--cuont': 'relay try' takes --count, --word, --empty, --json, --help",
    ],
  ];
  for (const [args, message] of wrong) {
    await assert.rejects(tried(...args), { name: "UsageError", message });
  }
});

Deno.test("runVerb() lets a verb tell of its failures, wrong usage among them", async () => {
  const told: unknown[] = [];
  const verb = defineVerb({
    name: "fail",
    summary: "fail",
    args: "[ANY...]",
    about: "It fails.",
    options: { soft: flag("softly") },
    run: () => Promise.reject(new InputError("broken\n")),
    async fail(thrown, tell, { soft }) {
      told.push(soft, thrown instanceof UsageError);
      await tell((thrown as Error).message);
      return 70;
    },
  });
  const host = memoryHost([]);
  assert.equal(await runVerb(verb, ["--soft", "a", "b", "c"], host), 70);
  assert.equal(await runVerb(verb, ["--sfot"], host), 70);
  assert.deepEqual(told, [true, false, undefined, true]);
  assert.match(host.err, /^relay fail: broken\\u\{a\}\nrelay fail: Unknown option '--sfot': .*\n$/);
});

Deno.test("helpOf() says the declaration, in lines of at most 100 characters", () => {
  assert.equal(
    helpOf(VERB),
    `Take what is given.

Usage: relay try FIRST [SECOND] [options]

It does nothing.

Options:
  --count N         how many, from 1 to 9
  --word W          a word and another and another and another and another and another and another
                    and another and another and another
  --empty=TEXT      may be empty
  --json            print {}

Exit status: 0.
`,
  );
});
