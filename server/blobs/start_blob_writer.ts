/** The blob writer's worker as its host sees it. */
import type { PostedBatch, WriterMessage } from "./blob_writer_program.ts";

export interface BlobWriterEvents {
  message(message: WriterMessage): void;
  /** It has ended: nothing more comes. */
  died(failure: unknown): void;
}

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
  return (events) => {
    const options: WorkerOptions & { deno: { permissions: Deno.PermissionOptionsObject } } = {
      type: "module",
      name: "blobs",
      deno: {
        permissions: {
          read: [root],
          write: [root],
          env: false,
          ffi: false,
          import: false,
          net: false,
          run: false,
          sys: false,
        },
      },
    };
    const worker = new Worker(new URL("./blob_writer_program.ts", import.meta.url), options);
    worker.onmessage = ({ data }) => events.message(data);
    worker.onerror = (event) => {
      event.preventDefault(); // else it ends this process too
      events.died(new Error(event.message));
    };
    worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
    return {
      post: (batch) => worker.postMessage(batch, batch.files.map(({ bytes }) => bytes.buffer)),
      terminate: () => worker.terminate(),
    };
  };
}
