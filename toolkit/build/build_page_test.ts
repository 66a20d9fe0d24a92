import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { buildPage, PAGE } from "./build_page.ts";
import { gzippedBytes, reportSizes } from "./size_bounds.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The bundler is Deno's own: another version may write other bytes that mean the same. */
const BUILT_WITH = "2.9.6";

Deno.test({
  name: `docs/verify.html is what 'deno task build:page' builds (needs Deno ${BUILT_WITH})`,
  ignore: Deno.version.deno !== BUILT_WITH,
  fn: async () => {
    const kept = await Deno.readTextFile(`${ROOT}${PAGE}`);
    assert.ok(await buildPage(ROOT) === kept, "it is old: run 'deno task build:page'");
  },
});

Deno.test("docs/verify.html allows its own script and style by their hashes, and nothing else", async () => {
  const html = await Deno.readTextFile(`${ROOT}${PAGE}`);
  const policy = /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html)![1]!;
  const hashOf = (tag: string) => {
    const texts = [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))];
    assert.equal(texts.length, 1);
    return `'sha256-${createHash("sha256").update(texts[0]![1]!).digest("base64")}'`;
  };
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    `script-src ${hashOf("script")}`,
    `style-src ${hashOf("style")}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ]);
  assert.doesNotMatch(html, /__[A-Z]+__|<!-- (?:STYLE|SCRIPT) -->/);
  assert.doesNotMatch(html, /\b(?:src|href)="(?!data:,")/);
});

Deno.test("docs/verify.html is as small as it is bound to be", async () => {
  const html = await Deno.readTextFile(`${ROOT}${PAGE}`);
  const { lines, isWithinBounds } = reportSizes({
    "verify.html": new TextEncoder().encode(html).length,
    "verify.html gzipped": await gzippedBytes(html),
  });
  console.log(lines.join("\n"));
  assert.ok(isWithinBounds, lines.join("\n"));
});
