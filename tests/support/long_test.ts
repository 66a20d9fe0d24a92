/**
 * Tests over corpora that packages bring: fetched when they run, never committed. They run where
 * RELAY_TEST_LONG=1, and are skipped by name everywhere else, in CI too.
 */
/** Registers a test that runs with RELAY_TEST_LONG=1 only. */
export function longTest(name: string, fn: () => void | Promise<void>): void {
  const isLong = Deno.env.get("RELAY_TEST_LONG") === "1";
  Deno.test({ name: `${name} (long: RELAY_TEST_LONG=1 runs it)`, ignore: !isLong, fn });
}
