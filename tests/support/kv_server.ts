/** A KV Connect server (denokv) for one test, on machines that have the program. */
import { join } from "node:path";
import { delay } from "./pace.ts";

const ACCESS_TOKEN = "a-token-of-tests-only";

/** Path of denokv: DENOKV_BIN, or the one on PATH; null when there is none. */
export function findKvServer(): string | null {
  const program = Deno.env.get("DENOKV_BIN") ?? "denokv";
  try {
    const { success } = new Deno.Command(program, {
      args: ["--help"],
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success ? program : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

export interface KvServer extends AsyncDisposable {
  /** Settings of a relay that uses it. */
  env: Record<string, string>;
  /** Opens it in the test's own process. */
  open(): Promise<Deno.Kv>;
  /** Ends it with kill -9, as in a crash. */
  kill(): Promise<void>;
  /** Starts it again on the same data and the same port. */
  start(accessToken?: string): Promise<void>;
  /** Stops it: its connections hang. */
  suspend(): void;
  resume(): void;
}

export async function startKvServer(program: string): Promise<KvServer> {
  const dir = await Deno.makeTempDir({ prefix: "kv-server-" });
  const port = freePort();
  let child: Deno.ChildProcess | null = null;
  const url = `http://127.0.0.1:${port}`;
  const server: KvServer = {
    env: { RELAY_KV_URL: url, DENO_KV_ACCESS_TOKEN: ACCESS_TOKEN },
    async open() {
      Deno.env.set("DENO_KV_ACCESS_TOKEN", ACCESS_TOKEN);
      const kv = await Deno.openKv(url);
      Deno.env.delete("DENO_KV_ACCESS_TOKEN");
      return kv;
    },
    async start(accessToken = ACCESS_TOKEN) {
      child = new Deno.Command(program, {
        args: [
          "--sqlite-path",
          join(dir, "data.sqlite"),
          "serve",
          "--addr",
          `127.0.0.1:${port}`,
          "--access-token",
          accessToken,
        ],
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      await reachable(port);
    },
    async kill() {
      child?.kill("SIGKILL");
      await child?.status;
      child = null;
    },
    suspend: () => child!.kill("SIGSTOP"),
    resume: () => child!.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await server.kill();
      await Deno.remove(dir, { recursive: true });
    },
  };
  await server.start();
  return server;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function reachable(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    try {
      using _ = await Deno.connect({ hostname: "127.0.0.1", port });
      return;
    } catch {
      await delay(50);
    }
  }
  throw new Error("the KV server does not listen");
}
