/** The library of opendkim as another verifier of signatures; .ci/run brings it with opendkim-tools. */
import { fileURLToPath } from "node:url";
import { findPart } from "./part.ts";

const LIBRARY = "libopendkim.so.11";
const program = fileURLToPath(new URL("./verify_opendkim_program.py", import.meta.url));

/** A mail, a character a byte, and the text that is published under its selector. */
export interface SignedCase {
  mail: string;
  record: string;
}

/** Whether each of the mails has a signature that opendkim takes. */
export type VerifyByOpendkim = (cases: readonly SignedCase[]) => Promise<boolean[]>;

/** Registers a test that needs Python and opendkim's library; skipped by name without, but not with CI=true. */
export async function opendkimOrSkip(
  name: string,
  fn: (verify: VerifyByOpendkim) => Promise<void>,
): Promise<void> {
  const python = findPart("python3");
  const isThere = python !== null &&
    (await new Deno.Command(python, { args: ["-c", `import ctypes; ctypes.CDLL("${LIBRARY}")`] })
      .output()).success;
  Deno.test({
    name: `${name} (needs opendkim)`,
    ignore: !isThere && Deno.env.get("CI") !== "true",
    fn: async () => {
      if (!isThere) {
        throw new Error("opendkim is missing: in CI every test runs; install opendkim-tools");
      }
      await fn((cases) => verify(python, cases));
    },
  });
}

async function verify(python: string, cases: readonly SignedCase[]): Promise<boolean[]> {
  const child = new Deno.Command(python, {
    args: [program, LIBRARY],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(cases)));
  await writer.close();
  const { success, stdout, stderr } = await output;
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}
