/** Reads files of blobs in a worker that may read their folder, and nothing of the store. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ifThere } from "../files/if_there.ts";
import { blobPath } from "./blob_name.ts";
import { BlobDamaged, type Blobs, type Damage } from "./blobs.ts";

/** Bytes of a file from an offset on: fewer where it ends early, null where it is not there. */
export async function readFileAt(
  path: string,
  at: number,
  sizeBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  using file = await ifThere(Deno.open(path, { read: true }));
  if (file === null) return null;
  // A record must not have memory taken for bytes that are not there.
  const there = Math.max(0, (await file.stat()).size - at);
  const bytes = new Uint8Array(Math.min(sizeBytes, there));
  if (at > 0) await file.seek(at, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < bytes.length) {
    const read = await file.read(bytes.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}

/**
 * As Blobs.read(), which tells the log what is damaged.
 * @param root folder of all blobs
 */
export function blobReader(root: string): Pick<Blobs, "read"> {
  return {
    async read({ name, sections }, section) {
      const asked = sections[section]!;
      const at = sections.slice(0, section).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const bytes = await readFileAt(join(root, ...blobPath(name)), at, asked.sizeBytes);
      const damaged = (damage: Damage) => new BlobDamaged(name, damage);
      if (bytes === null) throw damaged("missing");
      if (bytes.length < asked.sizeBytes) throw damaged("short");
      if (createHash("sha256").update(bytes).digest("base64url") !== asked.sha256) {
        throw damaged("changed");
      }
      return bytes;
    },
  };
}
