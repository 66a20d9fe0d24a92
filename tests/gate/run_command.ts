/** How a command ended, and all that it printed, in order. */
export interface CommandResult {
  exitCode: number;
  output: string;
}

/**
 * Runs a command to its end and keeps its output.
 * @param command path of the program, then its arguments
 * @param options.env variables added to this process's own
 */
export async function runCommand(
  command: readonly [string, ...string[]],
  options: { cwd: string; env?: Record<string, string> },
): Promise<CommandResult> {
  const [program, ...args] = command;
  const child = new Deno.Command(program, {
    args,
    cwd: options.cwd,
    env: options.env ?? {},
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const chunks: string[] = [];
  const keep = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) chunks.push(text);
  };
  const [{ code }] = await Promise.all([child.status, keep(child.stdout), keep(child.stderr)]);
  return { exitCode: code, output: chunks.join("") };
}
