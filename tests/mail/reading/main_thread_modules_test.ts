/**
 * No HTML is read on the main thread: what reads it is no part of the program that runs there,
 * but of the worker's, and of the slices that stand in for a worker where none can be started.
 * (The mailbox of local mode has a reader of its own, which has HTML in a worker too.)
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../gate/run_command.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAIN = "server/main.ts";
const WORKER = "server/mail/worker/mail_worker_program.ts";

interface Dependency {
  specifier: string;
  /** Missing where types alone are imported. */
  code?: { specifier?: string };
  isDynamic?: boolean;
}

interface Edge {
  from: string;
  to: string;
  isDynamic: boolean;
}

/** What a program's modules import to run, by paths from the root. */
async function importsOf(program: string): Promise<Edge[]> {
  const { exitCode, output } = await runCommand(
    [Deno.execPath(), "info", "--json", "--quiet", program],
    { cwd: ROOT, env: { NO_COLOR: "1" } },
  );
  assert.equal(exitCode, 0, output);
  const info: { modules: { specifier: string; dependencies?: Dependency[] }[] } = JSON.parse(
    output,
  );
  const named = (specifier: string) =>
    specifier.startsWith("file:") ? fileURLToPath(specifier).slice(ROOT.length) : specifier;
  return info.modules.flatMap(({ specifier: from, dependencies = [] }) =>
    dependencies.flatMap(({ code, isDynamic = false }) =>
      code?.specifier === undefined
        ? []
        : [{ from: named(from), to: named(code.specifier), isDynamic }]
    )
  );
}

/** The modules that run as soon as one does. */
function modulesOf(start: string, edges: readonly Edge[]): Set<string> {
  const reached = new Set([start]);
  for (const module of reached) {
    for (const { from, to, isDynamic } of edges) {
      if (from === module && !isDynamic) reached.add(to);
    }
  }
  return reached;
}

const readsHtml = (modules: ReadonlySet<string>) =>
  [...modules].filter((name) => /^npm:\/?parse5@|\/reading\/(?:html|css)\//.test(name));

Deno.test("nothing that reads HTML is a module of the main thread", async () => {
  const edges = await importsOf(MAIN);
  const main = modulesOf(MAIN, edges);
  assert.ok(main.has("server/mail/worker/mail_worker.ts"), "the graph is walked");
  assert.deepEqual(readsHtml(main), []);
  // Where no worker starts the same jobs are done in slices, and local mode reads what has no HTML; the
  // other way is to one text of our own.
  const ways = edges.filter(({ to, isDynamic }) =>
    isDynamic && readsHtml(modulesOf(to, edges)).length > 0
  );
  assert.deepEqual(ways.map(({ from, to }) => [from, to]).sort(), [
    ["server/mail/composing/prove_dkim.ts", "server/mail/composing/compose_mail.ts"],
    ["server/mail/worker/mail_worker.ts", "server/mail/worker/mail_jobs.ts"],
    ["server/web/dev/captured_reader.ts", "server/web/dev/read_mail.ts"],
  ]);
});

Deno.test("what reads HTML is a module of the mail worker", async () => {
  const modules = modulesOf(WORKER, await importsOf(WORKER));
  const reading = readsHtml(modules);
  assert.ok(reading.includes("server/mail/reading/html/html_text.ts"), reading.join());
  assert.ok(reading.some((name) => /parse5/.test(name)), reading.join());
});
