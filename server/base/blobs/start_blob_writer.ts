/** The blob writer's worker as its host sees it. */
import { openWorker, type WorkerEvents } from "../workers/open_worker.ts";
import type { PostedBatch, WriterMessage } from "./blob_writer_program.ts";

export type BlobWriterEvents = WorkerEvents<WriterMessage>;

export interface RunningBlobWriter {
  /** The bytes of the files move to the worker. */
  post(batch: PostedBatch): void;
  terminate(): void;
}

export type StartBlobWriter = (events: BlobWriterEvents) => RunningBlobWriter;

/**
 * A worker that may read and write below one folder, and nothing else.
 * @param root of all blobs
 */
export function blobWriterIn(root: string): StartBlobWriter {
  const program = new URL("./blob_writer_program.ts", import.meta.url);
  const permissions = {
    read: [root],
    write: [root],
    env: false,
    ffi: false,
    import: false,
    net: false,
    run: false,
    sys: false,
  };
  return (events) => {
    const worker = openWorker(program, { name: "blobs", permissions }, events);
    return {
      post: (batch) => worker.postMessage(batch, batch.files.map(({ bytes }) => bytes.buffer)),
      terminate: () => worker.terminate(),
    };
  };
}
