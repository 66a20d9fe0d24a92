/**
 * Tests that `deno task test --long` runs, and nothing else: they take long, or fetch what is not to be
 * committed. Programs that some of them start reach the registries of packages.
 */

/** Registers a test that runs with --long only, and is skipped by name everywhere else, in CI too. */
export function longTest(name: string, fn: () => void | Promise<void>): void {
  const isWanted = Deno.env.get("RELAY_LONG_TESTS") === "1";
  Deno.test({ name: `${name} (with --long)`, ignore: !isWanted, fn });
}
