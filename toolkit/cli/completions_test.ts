import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { run, VERBS } from "./run.ts";

async function script(shell: string): Promise<string> {
  const host = memoryHost(["completions", shell]);
  assert.equal(await run(host), 0);
  return host.out;
}

Deno.test("completions name every verb and each of its options, in every shell", async () => {
  assert.ok(VERBS.length >= 10, String(VERBS.length));
  for (const shell of ["bash", "zsh", "fish"]) {
    const text = await script(shell);
    for (const { name, options } of VERBS) {
      for (const word of name.split(" ")) assert.match(text, new RegExp(`\\b${word}\\b`));
      for (const option of Object.keys(options)) {
        assert.ok(text.includes(shell === "fish" ? `-l ${option}` : `--${option}`), option);
      }
    }
  }
});

Deno.test("completions refuse another shell", async () => {
  for (const args of [[], ["csh"], ["toString"], ["bash", "zsh"]]) {
    const host = memoryHost(["completions", ...args]);
    assert.deepEqual([await run(host), host.out], [2, ""]);
  }
});

/** What bash offers for a line that ends at the cursor. */
async function offered(...words: string[]): Promise<string[]> {
  const program = `${await script("bash")}
COMP_WORDS=(relay "$@"); COMP_CWORD=$#; _relay; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, success } = new Deno.Command("bash", {
    args: ["--norc", "-c", program, "bash", ...words],
  }).outputSync();
  assert.ok(success);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test("bash completes verbs, verbs of two words, and options", async () => {
  assert.deepEqual(await offered("re"), ["register", "resolve"]);
  assert.deepEqual(await offered("mail", ""), ["register", "inject", "dns", "check"]);
  assert.deepEqual(await offered("mail", "inject", "--client"), ["--client-ip"]);
  assert.deepEqual(await offered("webhook", ""), ["listen"]);
  assert.deepEqual(await offered("webhook", "listen", "--f"), ["--forward"]);
  assert.deepEqual(await offered("inbox", "--f"), ["--follow"]);
  assert.deepEqual(await offered("help", "ver"), ["verify"]);
});
