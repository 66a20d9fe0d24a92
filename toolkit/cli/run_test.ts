import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { InputError } from "./input_error.ts";
import { run, VERBS } from "./run.ts";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";

Deno.test("run() without a verb prints the overview on stderr and is malformed", async () => {
  const host = memoryHost([]);
  equal(await run(host), 2);
  equal(host.out, "");
  for (const verb of VERBS) match(host.err, new RegExp(`^  ${verb.name} +${verb.summary}$`, "m"));
});

Deno.test("run() prints the overview on stdout when asked", async () => {
  for (const args of [["--help"], ["-h"], ["help"]]) {
    const host = memoryHost(args);
    equal(await run(host), 0);
    match(host.out, /^Usage: relay VERB/m);
    equal(host.err, "");
  }
});

Deno.test("run() prints the help of each verb, which tells usage and exit status", async () => {
  for (const verb of VERBS) {
    for (const args of [["help", verb.name], [verb.name, "--help"], [verb.name, "x", "-h"]]) {
      const host = memoryHost(args);
      equal(await run(host), 0);
      equal(host.out, verb.help);
    }
    match(verb.help, new RegExp(`^Usage: relay ${verb.name}\\b`, "m"));
    match(verb.help, /^Exit status: 0/m);
    equal(verb.help.split("\n").filter((line) => line.length > 100).length, 0);
  }
});

Deno.test("run() refuses an unknown verb and shows the known ones", async () => {
  for (const args of [["vrfy"], ["help", "vrfy"]]) {
    const host = memoryHost(args);
    equal(await run(host), 2);
    match(host.err, /^relay: there is no verb 'vrfy'\n/);
    match(host.err, /^ {2}verify /m);
  }
});

Deno.test("run() escapes control characters of what it quotes", async () => {
  const host = memoryHost(["verify\u001b[2J\u202e"]);
  equal(await run(host), 2);
  match(host.err, /there is no verb 'verify\\u\{1b\}\[2J\\u\{202e\}'/);
});

Deno.test("run() points to the help after wrong usage, not after malformed input", async () => {
  const usage = memoryHost(["name"]);
  equal(await run(usage), 2);
  deepEqual(usage.err.split("\n"), [
    "relay name: KEY is missing: pass an address",
    "'relay name --help' tells how it is used",
    "",
  ]);
  const malformed = memoryHost(["hash"], { stdin: "[1," });
  equal(await run(malformed), 2);
  equal(malformed.err.split("\n").length, 2);
});

Deno.test("run() lets errors that are no fault of the caller through", async () => {
  const host = memoryHost(["hash"], { stdin: "1" });
  host.stdout = () => Promise.reject(new Error("disk full"));
  const thrown = await run(host).catch((error) => error);
  equal(thrown instanceof InputError, false);
  equal(thrown.message, "disk full");
});

Deno.test("parseOptions() refuses unknown options, missing values and too many arguments", async () => {
  const wrong: [string[], RegExp][] = [
    [["verify", "--frm", "x"], /Unknown option '--frm'/],
    [["verify", "--from"], /'--from <value>' argument missing/],
    [["verify", "--json=yes"], /'--json' does not take an argument/],
    [["verify", "a", "b"], /unexpected argument 'b'/],
    [["keygen", "a"], /unexpected argument 'a'/],
  ];
  for (const [args, message] of wrong) {
    const host = memoryHost(args);
    equal(await run(host), 2);
    match(host.err, message);
    equal(host.err.split("\n").length, 3, "one line and the hint");
  }
});
