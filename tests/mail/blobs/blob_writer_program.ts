/** Writes a blob file in a worker, as a process that may do only what its flags say. */
import { join } from "node:path";
import { BlobWriter, blobWriterIn } from "../../../server/base/blobs/blob_writer.ts";

const root = Deno.args[0]!;
const losses: string[] = [];
const writer = new BlobWriter({
  start: blobWriterIn(root),
  onLoss: (failure) => losses.push(String(failure)),
});
const path = join(root, "a");
const sections = [new Uint8Array([1, 2, 3])];
const isWritten = await writer.write({ path, temporaryPath: `${path}.tmp`, sections });
writer.close();
console.log(JSON.stringify({ isWritten, losses }));
