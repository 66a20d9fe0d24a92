import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { InputError } from "./failure.ts";
import { VERSION } from "../version.ts";
import { run, VERBS } from "./run.ts";
import { helpOf } from "./verb.ts";
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
    const words = verb.name.split(" ");
    const help = helpOf(verb);
    const questions = [["help", ...words], ["-h", ...words], [...words, "--help"]];
    for (const args of [...questions, [...words, "x", "-h"]]) {
      const host = memoryHost(args);
      equal(await run(host), 0);
      equal(host.out, help);
    }
    match(help, new RegExp(`^Usage: relay ${verb.name}\\b`, "m"));
    match(help, /^Exit status: 0/m);
    equal(help.split("\n").filter((line) => line.length > 100).length, 0);
  }
});

Deno.test("docs/client.md lists the verbs as the overview does", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/client.md", import.meta.url));
  const rows = VERBS.map(({ name, summary }) => `| \`${name}\` | ${summary} |\n`);
  equal(text.includes(`| --- | --- |\n${rows.join("")}\n`), true, rows.join(""));
});

Deno.test("run() refuses an unknown verb and shows the known ones", async () => {
  for (const args of [["vrfy"], ["help", "vrfy"], ["--help", "vrfy"], ["vrfy", "-h"]]) {
    const host = memoryHost(args);
    equal(await run(host), 2);
    match(host.err, /^relay: there is no verb 'vrfy'\n/);
    match(host.err, /^ {2}verify /m);
  }
});

Deno.test("run() tells the version of the package", async () => {
  const host = memoryHost(["--version"]);
  equal(await run(host), 0);
  equal(host.out, `relay ${VERSION}\n`);
});

Deno.test("run() tells of retries ever more seldom", async () => {
  let tries = 0;
  const host = memoryHost(
    ["resolve", "some_agent", "--relay", "https://r.example", "--retry-for", "600"],
    {
      fetch: () => {
        tries++;
        return Promise.reject(new TypeError("away"));
      },
      clock: hurriedClock(),
    },
  );
  equal(await run(host), 5);
  equal(tries > 64, true);
  equal(host.err.match(/; trying again in /g)!.length, Math.floor(Math.log2(tries - 1)) + 1);
});

/** Time jumps wherever somebody waits; no request is ever late. */
function hurriedClock() {
  let nowMs = 0;
  return {
    now: () => nowMs,
    after(delayMs: number, callback: () => void) {
      if (delayMs === 20_000) return () => {};
      nowMs += delayMs;
      queueMicrotask(callback);
      return () => {};
    },
  };
}

Deno.test("run() takes verbs of two words, and explains the first of them", async () => {
  const half = memoryHost(["mail"]);
  equal(await run(half), 2);
  match(half.err, /^relay: there is no verb 'mail'\n/);
  const wrong = memoryHost(["mail", "inbox", "--json"]);
  equal(await run(wrong), 2);
  match(wrong.err, /^relay: there is no verb 'mail inbox'\n/);
  for (const args of [["mail", "--help"], ["help", "mail"]]) {
    const host = memoryHost(args);
    equal(await run(host), 0);
    match(host.out, /^ {2}mail register /m);
  }
});

Deno.test("run() ends with 5 when no relay answers, the reason on stderr", async () => {
  const args = ["resolve", "some_agent", "--relay", "http://127.0.0.1:9", "--retry-for", "0"];
  const host = memoryHost(args);
  equal(await run(host), 5);
  deepEqual([host.out, host.err], [
    "",
    "relay resolve: http://127.0.0.1:9 cannot be reached: no network\n",
  ]);
  const json = memoryHost([...args, "--json"]);
  equal(await run(json), 5);
  deepEqual(JSON.parse(json.err), {
    error: {
      code: "unreachable",
      message: "http://127.0.0.1:9 cannot be reached: no network",
    },
  });
});

Deno.test("run() refuses verbs that need a relay without one, and none's address", async () => {
  const cases: [string[], RegExp][] = [
    [["resolve", "some_agent"], /^relay resolve: which relay\? Pass --relay URL, or set RELAY_URL/],
    [["resolve", "some_agent", "--relay", "relay.example/x"], /--relay: Cannot connect: a relay's/],
    [["resolve", "some_agent", "--relay", "https://r.example", "--retry-for", "x"], /--retry-for/],
    [["resolve", "no name", "--relay", "https://r.example"], /NAME must be a handle/],
    [
      ["whoami", "--relay", "https://r.example"],
      /there is no key file: make one with 'relay keygen/,
    ],
  ];
  for (const [args, words] of cases) {
    const host = memoryHost(args);
    deepEqual([await run(host), host.out], [2, ""]);
    match(host.err, words);
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
    [
      ["name", "--frm", "x"],
      /Unknown option '--frm': 'relay name' takes --adjectives, --json, --help$/m,
    ],
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
