/** The program of the blob writer's worker: a batch of files at a time. It may reach the blobs alone. */
import { type FileToWrite, writeBatch, type WriteFailure } from "./write_batch.ts";

export interface PostedBatch {
  folder: string;
  files: FileToWrite[];
}

/** What comes back: once that it takes batches, then the end of each. */
export type WriterMessage = "ready" | (WriteFailure | null)[];

interface WorkerScope {
  onmessage: (event: MessageEvent<PostedBatch>) => void;
  postMessage(message: WriterMessage): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data: { folder, files } }) => {
  scope.postMessage(await writeBatch(folder, files));
};
scope.postMessage("ready");
