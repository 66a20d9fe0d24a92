/** Verification as a part of the relay: a worker that begins when many requests are under way. */
import type { Deps } from "../../../base/parts/deps.ts";
import type { RequestsUnderWay } from "../../../base/http/routes/requests_under_way.ts";
import { logSparsely } from "../../../base/log_sparsely.ts";
import type { StartWorker } from "../../../base/workers/start_worker.ts";
import { SignatureVerifier, startVerificationWorker } from "./signature_verifier.ts";

export interface VerificationOptions {
  /** Starts the worker that verifies signatures. */
  startWorker?: StartWorker;
}

/** From this many concurrent requests a worker verifies signatures; with fewer it would gain nothing. */
const BUSY_REQUESTS = 8;

/** @param waits who waits for a message: a poll that does needs no thread */
export function openVerification(
  { config, log }: Pick<Deps, "config" | "log">,
  { requests }: { requests: RequestsUnderWay },
  waits: { readonly size: number },
  options: VerificationOptions,
): SignatureVerifier {
  return new SignatureVerifier({
    isBusy: () => requests.count - waits.size >= BUSY_REQUESTS,
    start: config.onDeploy ? null : options.startWorker ?? startVerificationWorker,
    onLoss: logSparsely(log, "verification_worker_lost"),
  });
}
