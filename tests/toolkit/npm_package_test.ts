import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzippedBytes, reportSizes } from "../../toolkit/build/size_bounds.ts";
import messages from "../vectors/messages.json" with { type: "json" };
import { programOrSkip, type ProgramRun } from "../support/npm_program.ts";
import { startTestRelay } from "../support/relay.ts";
import { findPart, partOrSkip } from "../support/part.ts";
import { INSTALL_COMMANDS, installPackage } from "./installed_package.ts";

const CONSUMER = fileURLToPath(new URL("./package_consumer.ts", import.meta.url));
const AGENT = fileURLToPath(new URL("./agent_consumer.ts", import.meta.url));

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
  stdin = "",
): Promise<Run> {
  // A home without a key file, so that no developer's own key becomes the recipient.
  const denoDir = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "/", ".cache/deno");
  const child = new Deno.Command(program, {
    args,
    cwd,
    env: { HOME: cwd, DENO_DIR: denoDir, RELAY_KEY_FILE: "", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(stdin));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

const WORKS = "the npm package: built, packed, installed into an empty project";
const HAS_TYPES = "the npm package type-checks with TypeScript, declarations of libraries included";
const TYPESCRIPT = { name: "typescript", version: "5.9.3", entry: "bin/tsc" };

// The build's compiler is Deno's own, which older versions do not have.
if (isSubcommand("transpile")) {
  partOrSkip("npm", WORKS, packageWorks);
  await programOrSkip(TYPESCRIPT, { [HAS_TYPES]: packageHasTypes });
} else {
  for (const name of [WORKS, HAS_TYPES]) {
    Deno.test({ name: `${name} (needs deno transpile)`, ignore: true, fn() {} });
  }
}

async function packageWorks(npm: string, t: Deno.TestContext): Promise<void> {
  const temporary = await Deno.makeTempDir({ prefix: "relay-package-" });
  try {
    const { folder, tarball, tarballBytes, unpackedBytes } = await installPackage(npm, temporary);
    const installed = join(folder, "node_modules/agent-relay-toolkit");

    await t.step("has every file it names, and nothing of Deno or of this machine", async () => {
      const manifest = JSON.parse(await Deno.readTextFile(join(installed, "package.json")));
      assert.equal(manifest.name, "agent-relay-toolkit");
      assert.equal(manifest.license, "MIT");
      assert.deepEqual(Object.keys(manifest.exports).slice(0, 3), [".", "./client", "./node"]);
      assert.deepEqual(manifest.engines, { node: ">=20.19" });
      for (const path of filesNamedIn(manifest)) await Deno.stat(join(installed, path));
      const modules = (await Array.fromAsync(texts(installed)))
        .filter(([path]) => /\.(?:js|d\.ts)$/.test(path));
      assert.ok(modules.length >= 6, String(modules.length));
      for (const [path, text] of modules) {
        const code = text.replace(/\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*/g, "");
        assert.doesNotMatch(code, /\bDeno\s*[.[]/, `${path} uses Deno`);
        assert.doesNotMatch(text, /file:\/\/|amd-module/, `${path} names a place of the build`);
        assert.doesNotMatch(code, /from "\.[^"]*(?:\.ts|\.json)"/, `${path} imports a source`);
      }
    });

    await t.step(
      "has a README that leads nowhere but to itself: a registry shows no other file",
      async () => {
        const readme = await Deno.readTextFile(join(installed, "README.md"));
        const headings = [...readme.matchAll(/^#+ (.+)$/gm)]
          .map(([, words]) =>
            `#${words!.toLowerCase().replace(/[^a-z ]/g, "").replaceAll(" ", "-")}`
          );
        const targets = [...readme.matchAll(/\]\(([^)]*)\)|(?:href|src)="([^"]*)"/g)]
          .map(([, link, attribute]) => link ?? attribute!);
        assert.deepEqual(targets.filter((target) => !headings.includes(target)), []);
        assert.ok(targets.length > 0);
      },
    );

    await t.step("installs by the commands that its README gives", async () => {
      const readme = await Deno.readTextFile(join(installed, "README.md"));
      const commands = /```sh\ndeno task build:npm\n([^`]+)```/.exec(readme)![1]!.trim().split(
        "\n",
      );
      assert.deepEqual(commands, INSTALL_COMMANDS);
      assert.match(tarball, /^agent-relay-toolkit-[^/]+\.tgz$/);
      assert.equal((await Deno.lstat(installed)).isSymlink, false);
    });

    await t.step("is as small as it is bound to be", async () => {
      const browser = await Deno.readTextFile(join(installed, "browser.js"));
      const { lines, isWithinBounds } = reportSizes({
        "package packed": tarballBytes,
        "package unpacked": unpackedBytes,
        "browser.js": new TextEncoder().encode(browser).length,
        "browser.js gzipped": await gzippedBytes(browser),
      });
      console.log(lines.join("\n"));
      assert.ok(isWithinBounds, lines.join("\n"));
    });

    const types = join(folder, "consumer.ts");
    const script = join(folder, "consumer.js");
    const agentTypes = join(folder, "agent.ts");
    await Deno.copyFile(CONSUMER, types);
    await Deno.copyFile(AGENT, agentTypes);
    const programs = [[script, types], [join(folder, "agent.js"), agentTypes]];
    await Promise.all(
      programs.map(([output, source]) =>
        mustPass([Deno.execPath(), "transpile", "--quiet", `--output=${output}`, source!], folder)
      ),
    );

    await t.step("gives a TypeScript program its types", async () => {
      const bundled = join(folder, "bundled.ts");
      const text = await Deno.readTextFile(types);
      await Deno.writeTextFile(bundled, onBundle(text));
      const wrong = join(folder, "wrong.ts");
      await Deno.writeTextFile(wrong, text.replace("timestamp: 1760000000", 'timestamp: "now"'));
      // One run over all: the only error is the one that was put in.
      const check = [Deno.execPath(), "check", "--quiet", "--node-modules-dir=manual"] as const;
      const { code, err } = await run([...check, types, agentTypes, bundled, wrong], folder);
      assert.equal(code, 1);
      assert.deepEqual(err.match(/\bTS\d+\b/g), ["TS2322"], err);
      assert.match(err, /\/wrong\.ts:/);
      assert.match(err, /Type 'string' is not assignable to type 'number'/);
    });

    const deno = [Deno.execPath(), "run", "--quiet", "--no-prompt", "--node-modules-dir=manual"];
    const onDeno = [...deno, "--allow-env", "--allow-read"] as const;
    const agentOnDeno = [...onDeno, "--allow-write", "--allow-net"] as const;
    const runtimes = { "Node.js": findPart("node"), "Node.js 22": findPart("node22") };
    for (const [name, node] of Object.entries(runtimes)) {
      if (node === null) continue;
      await t.step(`works on ${name}`, () => works([node], folder));
      await t.step(`keeps an agent on ${name}`, () => keepsAgent([node], folder));
    }
    await t.step("works on Deno", () => works(onDeno as unknown as [string], folder));
    await t.step(
      "keeps an agent on Deno",
      () => keepsAgent(agentOnDeno as unknown as [string], folder),
    );
    const bun = findPart("bun");
    await t.step({
      name: "works on Bun (needs bun)",
      ignore: bun === null && Deno.env.get("CI") !== "true",
      fn: () => works([bun ?? "bun"], folder),
    });
    await t.step({
      name: "keeps an agent on Bun (needs bun)",
      ignore: bun === null && Deno.env.get("CI") !== "true",
      fn: () => keepsAgent([bun ?? "bun"], folder),
    });
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

async function packageHasTypes(tsc: ProgramRun): Promise<void> {
  const npm = findPart("npm");
  assert.ok(npm !== null, "npm is missing: it comes with Node.js");
  const temporary = await Deno.makeTempDir({ prefix: "relay-package-" });
  try {
    const { folder } = await installPackage(npm, temporary);
    const source = join(folder, "consumer.ts");
    const bundled = join(folder, "bundled.ts");
    const agent = join(folder, "agent.ts");
    await Deno.copyFile(CONSUMER, source);
    await Deno.copyFile(AGENT, agent);
    await Deno.writeTextFile(bundled, onBundle(await Deno.readTextFile(CONSUMER)));
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const platform = ["--target", "es2022", "--module", "nodenext", "--lib", "es2024,dom"];
    const { code, stdout } = await tsc([
      "--noEmit",
      ...strict,
      ...platform,
      source,
      bundled,
      agent,
    ]);
    assert.equal(stdout, "");
    assert.equal(code, 0);
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

/** The same program, its imports from the file for browsers. */
function onBundle(program: string): string {
  return program.replace(/"agent-relay-toolkit(?:\/client)?"/g, '"agent-relay-toolkit/browser.js"');
}

function isSubcommand(name: string): boolean {
  return new Deno.Command(Deno.execPath(), { args: [name, "--help"] }).outputSync().success;
}

/** Runs the consumer and `relay verify`, with every exit code, on one runtime. */
async function works(runtime: readonly [string, ...string[]], folder: string): Promise<void> {
  const consumer = await run([...runtime, "consumer.js"], folder);
  assert.deepEqual([consumer.code, consumer.err], [0, ""]);
  assert.deepEqual(JSON.parse(consumer.out), {
    verdicts: ["valid", "mismatch", "bound", "key"],
    none: true,
    field: "id",
    client: "function",
    refusal: "missing_header",
  });

  const relay = [...runtime, join(folder, "node_modules/.bin/relay")] as const;
  const message = (name: string) => messages.cases.find((c) => c.name === name)!.message;
  const good = message("no recipient");
  const to = ["--to", messages.keys.recipient.address];
  const expected: [unknown, string[], number, RegExp][] = [
    [good, to, 0, /^passed: message 7: signature valid;/],
    [message("body changed"), to, 1, /^FALSE: message 7: .*content hash MISMATCH/],
    [[good, {}], to, 2, /^passed: .*\nmalformed: from is missing/],
    [good, ["--to", messages.keys.other.address], 3, /^not bound: message 7: /],
  ];
  await Promise.all(expected.map(async ([input, args, code, words]) => {
    const answer = await run([...relay, "verify", ...args], folder, JSON.stringify(input));
    assert.deepEqual([answer.code, answer.err], [code, ""]);
    assert.match(answer.out, words);
  }));
}

/** openAgent() of the package against a relay: a process that crashes in its handler, and the next. */
async function keepsAgent(runtime: readonly [string, ...string[]], folder: string): Promise<void> {
  await using relay = await startTestRelay({ clockStartMs: "real" });
  const home = await Deno.makeTempDir({ dir: folder });
  const file = join(home, "agent.json");
  const open = (...text: string[]) => {
    relay.clock.advance(2_000);
    return run([...runtime, join(folder, "agent.js"), relay.url, file, ...text], folder);
  };
  const crashed = await open("hello");
  assert.deepEqual([crashed.code, crashed.err], [7, ""]);
  assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
  const { address } = JSON.parse(await Deno.readTextFile(file));
  const received = [[{ text: "hello" }, "open"]];
  for (const expected of [received, []]) {
    const { code, out, err } = await open();
    assert.deepEqual([code, err], [0, ""]);
    assert.deepEqual(JSON.parse(out), { address, received: expected, refused: true });
  }
}

async function mustPass(command: readonly [string, ...string[]], cwd: string): Promise<void> {
  const { code, err } = await run(command, cwd);
  assert.equal(code, 0, err);
}

function filesNamedIn(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("./") ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(filesNamedIn);
}

async function* texts(folder: string): AsyncGenerator<[string, string], void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* texts(path);
    else yield [path, await Deno.readTextFile(path)];
  }
}
