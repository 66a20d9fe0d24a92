/** A process that writes and keeps blobs until it is killed, with the permissions of a relay with mail. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BlobRef } from "../../server/base/blobs/blobs.ts";
import { permissionFlags } from "../../server/base/config/permissions.ts";
import type { BlobKind } from "./blob_rig.ts";
import { delay } from "./pace.ts";

export interface BlobWriter extends AsyncDisposable {
  /** Blobs that it has reported as kept; they grow while it runs. */
  kept: BlobRef[];
  /** Resolves when it has kept so many. */
  hasKept(count: number): Promise<void>;
  /** Ends it with kill -9, and waits until all that it said is in `kept`. */
  kill(): Promise<void>;
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export function spawnBlobWriter(kind: BlobKind, dataDir: string): BlobWriter {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      `--config=${pathOf("../../deno.json")}`,
      ...permissionFlags({ RELAY_MAIL_DEV: "true", RELAY_DATA_DIR: dataDir }),
      pathOf("blob_writer.ts"),
      kind.form,
      kind.exclusive ? "exclusive" : "shared",
      dataDir,
      join(dataDir, "relay.kv"),
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const kept: BlobRef[] = [];
  const reading = (async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split("\n");
      text = lines.pop()!;
      kept.push(...lines.map((line) => JSON.parse(line)));
    }
  })();
  let ended = false;
  void child.status.then(() => ended = true);
  async function kill(): Promise<void> {
    if (!ended) child.kill("SIGKILL");
    const { signal } = await child.status;
    await reading;
    if (signal !== "SIGKILL") throw new Error("the writer ended by itself");
  }
  return {
    kept,
    async hasKept(count) {
      while (kept.length < count) {
        if (ended) throw new Error("the writer ended by itself");
        await delay(5);
      }
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
