/**
 * What a dependency that has been taken over would try, under the permissions that it is given: prints
 * a JSON object of each attempt and how it ended. Arguments: the data folder, the port of another
 * server on this machine, a folder outside.
 */
import { connect } from "node:net";

const [dataDir, otherPort, outside] = Deno.args as [string, string, string];

const attempts: Record<string, () => unknown> = {
  "read the data folder": () => Deno.readDirSync(dataDir).next(),
  "write to the data folder": () => Deno.writeTextFileSync(`${dataDir}/probe`, "x"),
  "read a file of the system": () => Deno.readTextFileSync("/etc/passwd"),
  "read a file outside": () => Deno.readTextFileSync(`${outside}/secret`),
  "read through the data folder": () => Deno.readTextFileSync(`${dataDir}/../secret`),
  "read the project": () => Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)),
  "list the working directory": () => Deno.readDirSync(".").next(),
  "link out of the data folder": () => Deno.symlinkSync("/etc/passwd", `${dataDir}/link`),
  "write outside": () => Deno.writeTextFileSync(`${outside}/new`, "x"),
  "write settings": () => Deno.writeTextFileSync(".env", "x"),
  "write to the project": () => Deno.writeTextFileSync(new URL("x", import.meta.url), "x"),
  "read another variable": () => Deno.env.get("SOME_SECRET"),
  "read all variables": () => Deno.env.toObject(),
  "connect to another port": () => Deno.connect({ hostname: "127.0.0.1", port: Number(otherPort) }),
  "connect to another host": () => Deno.connect({ hostname: "127.0.0.2", port: Number(otherPort) }),
  "fetch from another host": () => fetch(`http://localhost:${otherPort}/`),
  "listen on another port": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  "ask a name server": () => Deno.resolveDns("relay.invalid", "A"),
  "connect by node:net": () =>
    new Promise((resolve, reject) =>
      connect(Number(otherPort), "127.0.0.1", () => resolve(0)).once("error", reject)
    ),
  "run a program": () => new Deno.Command("sh", { args: ["-c", "true"] }).outputSync(),
  "run this program with more": () =>
    new Deno.Command(Deno.execPath(), { args: ["eval", "1"] }).outputSync(),
  "load native code": () => Deno.dlopen(`${dataDir}/probe`, {}),
  "import a file": () => import(`${outside}/module.ts`),
  "ask the system": () => Deno.systemMemoryInfo(),
  "start a worker with everything": () =>
    new Worker("data:application/javascript,close()", {
      type: "module",
      deno: { permissions: { read: true } },
    } as WorkerOptions),
  "ask for more": async () => {
    const { state } = await Deno.permissions.request({ name: "run" });
    if (state !== "granted") throw new Deno.errors.NotCapable(state);
  },
};

const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    results[name] = "done";
  } catch (error) {
    results[name] = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
console.log(JSON.stringify(results));
Deno.exit();
