/**
 * A test that `deno task test --long` runs, and nothing else: it takes long, or fetches what is not to be
 * committed. Programs that it starts reach the registries of packages.
 */
export function longTest(name: string, fn: () => Promise<void>): void {
  const isWanted = Deno.env.get("RELAY_LONG_TESTS") === "1";
  Deno.test({ name: `${name} (with --long)`, ignore: !isWanted, fn });
}
