/** PostgreSQL with its default durability, and pgbench as its load: two inserts a transaction. */
import { join } from "node:path";
import { quantile } from "../statistics.ts";
import { delay } from "../../tests/support/pace.ts";
import { NotMeasured, type Round } from "../row.ts";

/** Where Debian's packages have the server's programs, beside the PATH. */
const DEBIAN_FOLDER = "/usr/lib/postgresql";
const PROGRAMS = ["initdb", "postgres", "pgbench", "pg_isready", "psql"];
const POLL_MS = 50;
/** Every tenth transaction's time is logged. */
const LOGGED_SHARE = 0.1;

const SCHEMA = `
CREATE TABLE inbox (recipient int, id bigserial, sender int, body text, signature text,
  created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (recipient, id));
CREATE TABLE outbox (sender int, id bigserial, recipient int, delivered_at timestamptz,
  PRIMARY KEY (sender, id));`;

const TRANSACTION = `\\set sender random(1, 200)
\\set recipient random(1, 200)
BEGIN;
INSERT INTO inbox (recipient, sender, body, signature)
  VALUES (:recipient, :sender, '${"x".repeat(200)}', '${"s".repeat(88)}');
INSERT INTO outbox (sender, recipient) VALUES (:sender, :recipient);
COMMIT;
`;

export interface Postgres {
  version: string;
  /** Transactions a second, each of two inserts. */
  transactions(options: { clients: number; seconds: number }): Promise<Round>;
  stop(): Promise<void>;
}

/**
 * Starts a server of its own on an empty folder, reached by a socket in it alone.
 * @throws NotMeasured where PostgreSQL is not installed
 */
export async function startPostgres(): Promise<Postgres> {
  const bin = await findPrograms();
  const folder = await Deno.makeTempDir({ prefix: "relay-bench-pg-" });
  // The server refuses to run as root.
  const owner = Deno.uid() === 0 ? await unprivileged() : {};
  if (owner.uid !== undefined) await Deno.chown(folder, owner.uid, owner.gid!);
  const data = join(folder, "data");
  const connection = ["-h", folder, "-U", "bench"];

  async function run(program: string, ...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command(join(bin, program), {
      args,
      cwd: folder,
      ...owner,
      env: { LC_ALL: "C" },
    }).output();
    const text = new TextDecoder().decode(stdout);
    if (success) return text;
    throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}${text}`);
  }

  /** A child of this process, whose CPU time is told from that of other programs. */
  async function serve(): Promise<Deno.ChildProcess> {
    await run("initdb", "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8");
    const server = new Deno.Command(join(bin, "postgres"), {
      args: ["-D", data, "-c", "listen_addresses=", "-c", `unix_socket_directories=${folder}`],
      cwd: folder,
      ...owner,
      stdout: "null",
      stderr: "null",
    }).spawn();
    for (;;) {
      if (await run("pg_isready", ...connection, "-q").then(() => true, () => false)) return server;
      const ended = await Promise.race([server.status, delay(POLL_MS)]);
      if (ended !== undefined) throw new Error(`postgres ended with ${ended.code}`);
    }
  }

  let server: Deno.ChildProcess;
  try {
    server = await serve();
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
  const script = join(folder, "transaction.sql");
  await Deno.writeTextFile(script, TRANSACTION);
  await run("psql", ...connection, "-q", "-d", "postgres", "-c", SCHEMA);
  const version = await run("psql", ...connection, "-d", "postgres", "-Atc", "SHOW server_version");

  return {
    version: `PostgreSQL ${version.trim()}, fsync and synchronous_commit on`,
    async transactions({ clients, seconds }) {
      const text = await run(
        "pgbench",
        ...connection,
        ...["--no-vacuum", "--protocol=prepared", `--file=${script}`],
        ...[`--client=${clients}`, "--jobs=2", `--time=${seconds}`],
        ...["--log", `--sampling-rate=${LOGGED_SHARE}`, `--log-prefix=${join(folder, "times")}`],
        "postgres",
      );
      const rate = Number(/^tps = ([\d.]+)/m.exec(text)?.[1]);
      if (!(rate > 0)) throw new Error(`pgbench told no rate: ${text}`);
      const tookMs = await takeTimes(folder);
      return { value: rate, p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99) };
    },
    async stop() {
      server.kill("SIGINT"); // it breaks connections off and stops
      await server.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Milliseconds of the logged transactions, ascending; the logs are removed. */
async function takeTimes(folder: string): Promise<number[]> {
  const tookMs: number[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.startsWith("times.")) continue;
    for (const line of (await Deno.readTextFile(join(folder, name))).split("\n")) {
      if (line !== "") tookMs.push(Number(line.split(" ")[2]) / 1_000);
    }
    await Deno.remove(join(folder, name));
  }
  return tookMs.sort((a, b) => a - b);
}

async function findPrograms(): Promise<string> {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  try {
    const versions = await Array.fromAsync(Deno.readDir(DEBIAN_FOLDER), ({ name }) => name);
    const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
    folders.unshift(...newestFirst.map((version) => join(DEBIAN_FOLDER, version, "bin")));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  for (const folder of folders) {
    const found = await Promise.all(
      PROGRAMS.map((program) => Deno.stat(join(folder, program)).then(() => true, () => false)),
    );
    if (found.every(Boolean)) return folder;
  }
  throw new NotMeasured(
    `PostgreSQL is not installed (${PROGRAMS.join(", ")}; Debian's package is postgresql)`,
  );
}

async function unprivileged(): Promise<{ uid?: number; gid?: number }> {
  for (const user of ["postgres", "nobody"]) {
    const ids = await Promise.all(["-u", "-g"].map(async (flag) => {
      const { success, stdout } = await new Deno.Command("id", {
        args: [flag, user],
        stderr: "null",
      }).output();
      return success ? Number(new TextDecoder().decode(stdout)) : NaN;
    }));
    if (ids.every(Number.isInteger)) return { uid: ids[0]!, gid: ids[1]! };
  }
  throw new NotMeasured("PostgreSQL refuses to run as root, and there is no user to run it as");
}
