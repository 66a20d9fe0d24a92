/**
 * The wall clock of a real process, moved while it runs: libfaketime adds what a file says to every
 * reading of the system's clock. Monotonic time, and so every timer, goes on as it is.
 */
import { join } from "node:path";

export class MovedClock implements AsyncDisposable {
  #aheadMs = 0;

  private constructor(private readonly dir: string, private readonly library: string) {}

  /** @param faketime the program that comes with the library, as partOrSkip() gives it */
  static async make(faketime: string): Promise<MovedClock> {
    // It knows where its libraries lie on this architecture. -m: the one for threads; with the other, one
    // thread that reads the file has the clocks of the rest be right for a moment.
    const args = ["-m", "-f", "+0", "printenv", "LD_PRELOAD"];
    const asked = new Deno.Command(faketime, { args });
    const { stdout } = await asked.output();
    const library = new TextDecoder().decode(stdout).trim();
    if (library === "") throw new Error(`${faketime} does not name its library`);
    const clock = new MovedClock(await Deno.makeTempDir({ prefix: "moved-clock-" }), library);
    clock.moveTo(0);
    return clock;
  }

  /** What a process is started with that lives by this clock. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: join(this.dir, "ahead"),
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** How far it is ahead of the machine's, in ms; below 0 behind it. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Moves it to so many ms ahead of the machine's. */
  moveTo(aheadMs: number): void {
    const file = join(this.dir, "ahead");
    const seconds = (aheadMs / 1000).toFixed(3);
    Deno.writeTextFileSync(`${file}.new`, aheadMs < 0 ? seconds : `+${seconds}`);
    Deno.renameSync(`${file}.new`, file); // never half of it
    this.#aheadMs = aheadMs;
  }

  /** Moves it to a unix time in ms. */
  set(ms: number): void {
    this.moveTo(ms - Date.now());
  }

  /** What it says, in unix ms. */
  readonly now = (): number => Date.now() + this.#aheadMs;
  /** The same in whole seconds, as in signed timestamps. */
  readonly seconds = (): number => Math.floor(this.now() / 1000);

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.dir, { recursive: true });
  }
}

/** Removes what the library leaves of a process that was killed. */
export async function removeSharedMemory(pid: number): Promise<void> {
  for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`]) {
    await Deno.remove(`/dev/shm/${name}`).catch(() => {});
  }
}
