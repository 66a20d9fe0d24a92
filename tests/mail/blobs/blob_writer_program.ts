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
const bytes = new Uint8Array([1, 2, 3]);
const failure = await writer.write(root, { path, temporaryPath: `${path}.tmp`, bytes }).then(
  () => null,
  String,
);
writer.close();
console.log(JSON.stringify({ failure, losses }));
