/** The code on a page, as a reader copies it, and how tests run it in a shell of its own. */
import { join } from "node:path";

export interface ShownSample {
  language: string;
  text: string;
}

/** Every block of code on a page, in order. @throws Error where one names no language */
export function samplesOn(page: string): ShownSample[] {
  const blocks = [...page.matchAll(/<pre class="copy"><code([^>]*)>([\s\S]*?)<\/code><\/pre>/g)];
  if (blocks.length !== page.split("<pre").length - 1) throw new Error("a <pre> of another kind");
  return blocks.map(([, attributes, html]) => {
    const language = /^ class="language-([a-z]+)"$/.exec(attributes!)?.[1];
    if (language === undefined) throw new Error(`no language: ${html}`);
    return { language, text: unescapeHtml(html!) };
  });
}

function unescapeHtml(html: string): string {
  return html.replaceAll(
    /&(lt|gt|quot|amp|#39);/g,
    (_, name: string) => ({ lt: "<", gt: ">", quot: '"', amp: "&", "#39": "'" })[name]!,
  );
}

export interface ShellOptions {
  /** Working directory. */
  cwd: string;
  /** Home folder, of its own. */
  home: string;
  /** Programs that the shell finds first: names with the lines of shell that they are. */
  programs?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  /** Ends the program as soon as it has printed this; without it the program ends by itself. */
  until?: RegExp;
}

/** Runs lines in sh. @returns its exit code, null where it was ended, and what it printed */
export async function runInShell(
  script: string,
  { cwd, home, programs = {}, env = {}, until }: ShellOptions,
): Promise<{ code: number | null; out: string }> {
  const bin = await Deno.makeTempDir({ dir: home, prefix: "bin-" });
  for (const [name, lines] of Object.entries(programs)) {
    await Deno.writeTextFile(join(bin, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  }
  const { PATH = "", DENO_DIR, HOME = "/" } = Deno.env.toObject();
  const child = new Deno.Command("sh", {
    args: ["-c", script],
    cwd,
    clearEnv: true,
    env: {
      PATH: `${bin}:${PATH}`,
      HOME: home,
      DENO_DIR: DENO_DIR ?? join(HOME, ".cache/deno"),
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUNBUFFERED: "1",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let out = "";
  let isEnded = false;
  const take = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      out += decoder.decode(chunk, { stream: true });
      if (until === undefined || isEnded || !until.test(out)) continue;
      isEnded = true;
      child.kill("SIGKILL");
    }
  };
  const [{ code }] = await Promise.all([child.status, take(child.stdout), take(child.stderr)]);
  return { code: isEnded ? null : code, out };
}
