/**
 * What `--long` adds to `deno task test` and `deno task ok`: full numbers of kills, rounds and sizes, and
 * tests that fetch what is not to be committed. Programs that some of them start reach the registries of
 * packages.
 */

/** Whether campaigns run in full. Without, they run in numbers that still catch what they are made for. */
export const isLong = Deno.env.get("RELAY_LONG_TESTS") === "1";

/** Registers a test that runs with --long only, and is skipped by name everywhere else, in CI too. */
export function longTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name: `${name} (with --long)`, ignore: !isLong, fn });
}
