/**
 * Runs a subcommand of the Deno that runs this.
 *
 * @param root the folder of the repository
 * @returns what it wrote on standard output
 * @throws Error with what it wrote on standard error when it fails
 */
export async function runDeno(root: string, args: readonly [string, ...string[]]): Promise<string> {
  const [subcommand, ...rest] = args;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [subcommand, "--quiet", ...rest],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  if (!success) {
    throw new Error(`deno ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  }
  return new TextDecoder().decode(stdout);
}
