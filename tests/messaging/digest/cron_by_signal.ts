/**
 * The relay as it is, but for the clock of its crons: SIGUSR1 runs the digest cron. Deno fires
 * crons by the wall clock alone, every five minutes.
 */
const bodies = new Map<string, () => void | Promise<void>>();

Object.defineProperty(Deno, "cron", {
  value(name: string, _schedule: string, body: () => void | Promise<void>): Promise<void> {
    bodies.set(name, body);
    return Promise.resolve();
  },
});

let runs = 0;
Deno.addSignalListener("SIGUSR1", async () => {
  await bodies.get("digest")!();
  console.log(`digest cron ${++runs} has run`);
});

await import("../../../server/main.ts");
