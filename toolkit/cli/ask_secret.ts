import process from "node:process";

const ENTER = new Set(["\r", "\n"]);
const INTERRUPT = "\u0003";
const END = "\u0004";
const ERASE = new Set(["\u0008", "\u007f"]);

/**
 * Asks on the terminal for a line that is not shown while it is typed.
 *
 * @throws {Error} when the person interrupts or ends the input
 */
export async function askSecret(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the prompt: somebody who answers at once would see what was typed.
  stdin.setRawMode(true);
  stderr.write(prompt);
  stdin.setEncoding("utf8");
  stdin.ref();
  stdin.resume();
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed: string[] = [];
      function take(text: string): void {
        for (const character of text) {
          if (ENTER.has(character)) {
            stdin.off("data", take);
            return resolve(typed.join(""));
          }
          if (character === INTERRUPT || character === END) {
            stdin.off("data", take);
            return reject(new Error("no passphrase was typed"));
          }
          if (ERASE.has(character)) typed = typed.slice(0, -1);
          else typed.push(character);
        }
      }
      stdin.on("data", take);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    // Deno 2.5 leaves a read pending that would keep the process alive until the next key.
    stdin.unref();
    stderr.write("\n");
  }
}
