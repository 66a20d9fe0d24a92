import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import messages from "../vectors/messages.json" with { type: "json" };
import { partOrSkip } from "../support/part.ts";
import { OFFLINE, onDeno, onNode, type Program, runProgram } from "./relay_program.ts";

Deno.test("relay on Deno: keygen, name, hash and verify from outside", (t) =>
  tellFromOutside(() => onDeno(OFFLINE), t));

partOrSkip(
  "node",
  "relay on Node.js: keygen, name, hash and verify from outside",
  (node, t) => tellFromOutside((folder) => onNode(node, folder), t),
);

async function tellFromOutside(
  programIn: (folder: string) => Program,
  t: Deno.TestContext,
): Promise<void> {
  const home = Deno.makeTempDirSync({ prefix: "relay-home-" });
  try {
    const command = programIn(home);
    const keyFile = join(home, ".config/relay/key.json");
    const run = (args: readonly string[], stdin?: string) =>
      runProgram(command, args, { home, stdin });

    await t.step("keygen makes a file that its owner alone may read", async () => {
      const { code, out, err } = await run(["keygen", "--json"]);
      deepEqual([code, err], [0, ""]);
      equal(JSON.parse(out).key_file, keyFile);
      equal(Deno.statSync(keyFile).mode! & 0o777, 0o600);
      equal(Deno.statSync(join(home, ".config/relay")).mode! & 0o777, 0o700);
      const named = await run(["name", JSON.parse(out).address]);
      deepEqual(named, { code: 0, out: `${JSON.parse(out).word_name}\n`, err: "" });
    });

    await t.step("keygen keeps an old key without --force", async () => {
      const before = Deno.readTextFileSync(keyFile);
      const refused = await run(["keygen"]);
      deepEqual([refused.code, refused.out], [2, ""]);
      equal(Deno.readTextFileSync(keyFile), before);
      equal((await run(["keygen", "--force"])).code, 0);
      equal(Deno.readTextFileSync(keyFile) === before, false);
      equal(Deno.statSync(keyFile).mode! & 0o777, 0o600);
      deepEqual([...Deno.readDirSync(join(home, ".config/relay"))].map((e) => e.name), [
        "key.json",
      ]);
    });

    await t.step("of two keygens at once one makes the key", async () => {
      const path = join(home, "race.json");
      const both = await Promise.all(
        [1, 2].map(() => run(["keygen", "--json", "--key", path])),
      );
      deepEqual(both.map(({ code }) => code).sort(), [0, 2]);
      const made = JSON.parse(both.find(({ code }) => code === 0)!.out);
      equal(JSON.parse(Deno.readTextFileSync(path)).address, made.address);
    });

    await t.step("hash reads standard input", async () => {
      const expected = "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a\n";
      deepEqual(await run(["hash"], '"hello"'), { code: 0, out: expected, err: "" });
    });

    await t.step("verify ends with 0, 1, 2 and 3, and warns of nothing", async () => {
      const message = (name: string) => messages.cases.find((c) => c.name === name)!.message;
      const to = ["--to", messages.keys.recipient.address];
      const good = message("no recipient");
      const expected: [unknown, string[], number, RegExp][] = [
        [good, to, 0, /^passed: message 7: signature valid;/],
        [message("body changed"), to, 1, /^FALSE: /],
        [good, ["--to", messages.keys.other.address], 3, /^not bound: /],
        [[good, {}], to, 2, /^passed: .*\nmalformed: from is missing/],
      ];
      for (const [input, args, code, words] of expected) {
        const answer = await run(["verify", ...args], JSON.stringify(input));
        deepEqual([answer.code, answer.err], [code, ""]);
        match(answer.out, words);
      }
      const path = join(home, "page.ndjson");
      Deno.writeTextFileSync(path, `${JSON.stringify(good)}\n`.repeat(300));
      const answer = await run(["verify", path, "--json", ...to]);
      deepEqual([answer.code, answer.err], [0, ""]);
      equal(answer.out.trim().split("\n").length, 300);
      equal(JSON.parse(answer.out.trim().split("\n").at(-1)!).index, 299);
    });

    await t.step({
      name: "what cannot be printed is no verdict, and what cannot be told changes none",
      ignore: Deno.build.os !== "linux", // /dev/full
      fn: async () => {
        async function verify(redirection: string, input: unknown): Promise<number> {
          const program: Program = ["sh", "-c", `exec "$@" ${redirection}`, "sh", ...command];
          const args = ["verify", "--to", messages.keys.recipient.address];
          return (await runProgram(program, args, { home, stdin: JSON.stringify(input) })).code;
        }
        const good = messages.cases.find(({ name }) => name === "no recipient")!.message;
        equal(await verify(">/dev/full", good), 2);
        equal(await verify(">/dev/full 2>/dev/full", good), 2);
        equal(await verify("2>/dev/full", good), 0);
        equal(await verify("2>/dev/full", {}), 2);
      },
    });
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}
