/** The passphrase as a person types it: on a terminal, unseen. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { partOrSkip } from "../support/part.ts";
import { OFFLINE, onDeno, runProgram } from "./relay_program.ts";

/** Runs a command on a terminal of its own and answers each prompt; prints exit code and screen. */
const ON_TERMINAL = `
import json, os, pty, sys
command, answers = json.loads(sys.argv[1]), json.loads(sys.argv[2])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
screen = b""
while True:
    try:
        text = os.read(terminal, 4096)
    except OSError:
        break
    if not text:
        break
    screen += text
    if answers and screen.endswith(b": "):
        os.write(terminal, answers.pop(0).encode())
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps([code, screen.decode()]))
`;

partOrSkip(
  "python3",
  "a passphrase is typed on the terminal, unseen, and opens the key",
  async (python) => {
    const home = await Deno.makeTempDir({ prefix: "relay-home-" });
    try {
      const key = ["--key", join(home, "my.json")];
      const type = async (args: string[], answers: string[]): Promise<[number, string]> => {
        const command = JSON.stringify([...onDeno(OFFLINE), ...args, ...key]);
        const program = [python, "-c", ON_TERMINAL, command] as const;
        const { code, out, err } = await runProgram(program, [JSON.stringify(answers)], { home });
        assert.deepEqual([code, err], [0, ""]);
        return JSON.parse(out);
      };
      // A letter too many is erased.
      const [made, screen] = await type(["keygen", "--passphrase"], [
        "sesamx\u007fe\r",
        "sesame\r",
      ]);
      assert.equal(made, 0, screen);
      assert.match(screen, /^Passphrase of the key file: \r\nThe same again: \r\naddress /);
      const sign = ["sign", "GET", "/v1/whoami"];
      const [opened, headers] = await type(sign, ["sesame\r"]);
      assert.equal(opened, 0, headers);
      assert.match(headers, /^X-Relay-Signature: \S+$/m);
      const [wrong, refusal] = await type(sign, ["other\r"]);
      assert.equal(wrong, 2);
      assert.match(refusal, /the passphrase does not open/);
      const [interrupted] = await type(sign, ["ses\u0003"]);
      assert.equal(interrupted, 2);
      assert.doesNotMatch(screen + headers + refusal, /sesam|other/);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  },
);
