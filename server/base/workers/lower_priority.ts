/**
 * Workers that go last where all cores are busy: the threads that answer requests come first. Linux has a
 * priority for each thread; elsewhere it is the whole process's, and stays as it is.
 */
import { setPriority } from "node:os";

const PERMISSION = { name: "sys", kind: "setPriority" } as const;
/** Of 0 to 19. Beside a busy thread on one core it still has a tenth of it, so that nothing waits for ever. */
const NICENESS = 10;

/** Whether a worker may be given the right to lower its own priority, by the rights of this process. */
export function mayLowerPriority(): boolean {
  return Deno.build.os === "linux" && Deno.permissions.querySync(PERMISSION).state === "granted";
}

/** Called once by the program of a worker, before its first job. It gives the right away that it took. */
export function lowerPriority(): void {
  if (!mayLowerPriority()) return;
  try {
    setPriority(0, NICENESS); // 0 is the thread that calls
  } catch {
    // A sandbox that forbids it: the worker does its work all the same.
  }
  Deno.permissions.revokeSync(PERMISSION);
}
