/** A relay as `deno task start` makes it: with the permissions that the task's own program prints. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface PrintedRelay extends AsyncDisposable {
  url: string;
  /** Sends SIGTERM and waits for the end. @returns all that it said */
  end(): Promise<{ stdout: string; stderr: string }>;
}

export function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

/** What the task's own program gives a relay of these settings. */
export async function flagsOfTask(env: Record<string, string>): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  const [deno, ...args] = tasks.permissions.split(" ");
  assert.equal(deno, "deno");
  assert.equal(tasks.start, `${tasks.permissions} -0 server/main.ts | xargs -0 deno run -q`);
  const printed = await new Deno.Command(Deno.execPath(), {
    args: [...args.toSpliced(1, 0, "--no-lock"), "-0"],
    cwd: ROOT,
    env,
  }).output();
  return new TextDecoder().decode(printed.stdout).split("\0");
}

/**
 * Starts server/main.ts on a free port, with its data in a temporary folder, and waits until it listens.
 * @throws Error with what it said when it ends first
 */
export async function startWithPrintedPermissions(
  settings: Record<string, string>,
): Promise<PrintedRelay> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-printed-" });
  const env = { PORT: freePort(), RELAY_DATA_DIR: dataDir, ...settings };
  const child = new Deno.Command(Deno.execPath(), {
    // Tasks run without it on the oldest runtime only.
    args: ["run", "--quiet", "--no-lock", ...await flagsOfTask(env), "server/main.ts"],
    cwd: ROOT,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const said = { stdout: "", stderr: "" };
  const listening = Promise.withResolvers<string | null>();
  const reading = (["stdout", "stderr"] as const).map(async (stream) => {
    const decoder = new TextDecoder();
    for await (const chunk of child[stream]) {
      said[stream] += decoder.decode(chunk, { stream: true });
      const url = /listening on (http:\S+)\n/.exec(said.stdout);
      if (url !== null) listening.resolve(url[1]!);
    }
  });
  let ending: Promise<typeof said> | undefined;
  const ended = (async () => {
    await child.status;
    await Promise.all(reading);
    listening.resolve(null);
    await Deno.remove(dataDir, { recursive: true });
    return said;
  })();
  const end = (signal: Deno.Signal) =>
    ending ??= (() => {
      try {
        child.kill(signal);
      } catch {
        // It has ended already.
      }
      return ended;
    })();
  const url = await listening.promise;
  if (url === null) throw new Error(`the relay ended: ${said.stderr}${said.stdout}`);
  return {
    url,
    end: () => end("SIGTERM"),
    [Symbol.asyncDispose]: async () => void await end("SIGKILL"),
  };
}
