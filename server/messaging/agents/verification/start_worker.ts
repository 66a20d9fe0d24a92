/** The verification worker as its host sees it. */
import { openWorker } from "../../../base/workers/open_worker.ts";
import program from "./verification_worker.js" with { type: "text" };

/** Three texts a signature: public key (base64url), signature (base64), signed string. */
export type Batch = readonly string[];

export interface WorkerEvents {
  /** It takes batches from now on. */
  ready(): void;
  /** The verdicts of the oldest batch that has none, a character a signature: 1, 0, or ? for none. */
  verdicts(verdicts: string): void;
  /** It has ended, or what it sends cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

export interface VerificationWorker {
  post(batch: Batch): void;
  terminate(): void;
}

export type StartWorker = (events: WorkerEvents) => VerificationWorker;

/** Starts the worker, with no permission at all. @throws what the runtime throws where it has no workers */
export const startWorker: StartWorker = (events) => {
  const url = `data:text/javascript,${encodeURIComponent(String(program))}`;
  const worker = openWorker(url, { name: "verify" }, {
    message(data) {
      if (data === "ready") events.ready();
      else events.verdicts(String(data));
    },
    died: (failure) => events.died(failure),
  });
  return {
    post: (batch) => worker.postMessage(batch),
    terminate: () => worker.terminate(),
  };
};
