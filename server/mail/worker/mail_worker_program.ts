/**
 * The program of the mail worker: one job at a time, whose steps are told as they come. It runs
 * without permissions; the relay may read the modules that it imports (docs/adr/0027).
 */
import { MAIL_JOBS, type MailJob, type PostedJob, type WorkerMessage } from "./mail_jobs.ts";

interface WorkerScope {
  onmessage: (event: MessageEvent<PostedJob>) => void;
  postMessage(message: WorkerMessage, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data: { kind, raw, input } }) => {
  try {
    const job = MAIL_JOBS[kind] as unknown as MailJob<"read">;
    const steps = job.run(raw, input as never);
    let step = await steps.next();
    for (; step.done !== true; step = await steps.next()) {
      if (step.value !== null) scope.postMessage({ type: "step", step: step.value });
    }
    scope.postMessage({ type: "result", result: step.value }, job.buffersOf(step.value));
  } catch (error) {
    // The name alone: what an error says may quote the message.
    scope.postMessage({ type: "failed", reason: error instanceof Error ? error.name : "Error" });
  }
};
scope.postMessage({ type: "ready" });
