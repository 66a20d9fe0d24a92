/** A pasted example must not become a program that takes a forged message for a true one. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { VERBS } from "../../toolkit/cli/run.ts";
import { helpOf } from "../../toolkit/cli/verb.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A program that branches on one verdict, in any language: `report.body === "bound"`. */
const ONE_VERDICT =
  /\breport\??\.(?:signature|sender|body|contentHash|canonicalString)\b[\s)]*(?:[=!]==?)/;

async function* sources(folder: string, ending: RegExp): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sources(path, ending);
    else if (ending.test(name) && !name.endsWith("_test.ts")) yield path;
  }
}

/** The examples in a text: fenced blocks of a document, and of docstrings. */
function examplesIn(text: string): string[] {
  return [...text.matchAll(/```\w*\n([^]*?)```/g)].map(([, example]) => example!);
}

Deno.test("no example of the documents and docstrings branches on one verdict", async () => {
  let withOverall = 0;
  const paths = ["README.md", "toolkit/README.md"];
  for (const [folder, ending] of [["docs", /\.md$/], ["toolkit", /\.ts$/]] as const) {
    for await (const path of sources(folder, ending)) paths.push(path);
  }
  for (const path of paths) {
    for (const example of examplesIn(await Deno.readTextFile(`${ROOT}${path}`))) {
      assert.doesNotMatch(example, ONE_VERDICT, `${path}: use overall(report)`);
      if (/\boverall\(/.test(example)) withOverall++;
    }
  }
  assert.ok(withOverall >= 5, "the examples of checks are among those that were read");
});

Deno.test("no help text branches on one verdict", () => {
  for (const verb of VERBS) {
    assert.doesNotMatch(helpOf(verb), ONE_VERDICT, verb.name);
  }
  const inbox = VERBS.find(({ name }) => name === "inbox")!;
  assert.match(helpOf(inbox), /jq .*\.overall == "proven"/);
});
