/** A disk of a few megabytes that a test can fill: a tmpfs, which only root may mount. */
import { join } from "node:path";

export interface SmallDisk {
  /** A folder on it. */
  path: string;
  /** Takes all free bytes of it. */
  fill(): void;
  /** Gives back what fill() took. */
  empty(): void;
}

/**
 * Registers a test on a disk of its own. If none can be mounted, the test is skipped by name. In CI
 * (`CI=true`) nothing is skipped, so there it fails.
 */
export function smallDiskOrSkip(
  name: string,
  sizeMiB: number,
  test: (disk: SmallDisk) => Promise<void>,
): void {
  Deno.test({
    name: `${name} (needs root, to mount a tmpfs)`,
    ignore: Deno.env.get("CI") !== "true" && !mountsWork(),
    fn: async () => {
      const path = Deno.makeTempDirSync({ prefix: "relay-disk-" });
      try {
        run("mount", "-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs", path);
        try {
          await test({ path, ...filler(join(path, "filler")) });
        } finally {
          run("umount", path);
        }
      } finally {
        Deno.removeSync(path);
      }
    },
  });
}

function filler(file: string): Pick<SmallDisk, "fill" | "empty"> {
  return {
    fill() {
      for (const sizeBytes of [2 ** 20, 4096]) {
        using open = Deno.openSync(file, { create: true, append: true });
        try {
          for (;;) open.writeSync(new Uint8Array(sizeBytes));
        } catch (error) {
          if (!/No space left/.test(String(error))) throw error;
        }
      }
    },
    empty: () => Deno.removeSync(file),
  };
}

function mountsWork(): boolean {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return false;
  const path = Deno.makeTempDirSync({ prefix: "relay-disk-" });
  try {
    run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path);
    run("umount", path);
    return true;
  } catch {
    return false;
  } finally {
    Deno.removeSync(path);
  }
}

function run(program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}
