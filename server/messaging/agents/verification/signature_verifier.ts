/**
 * Verifies signatures of known agents: one at a time on the main thread while a request is alone,
 * and in batches in a worker while several are under way (docs/adr/0027). A check that the worker
 * does not answer, for whatever reason, is made on the main thread: none is lost.
 */
import { Buffer } from "node:buffer";
import { type KeyObject, verify } from "node:crypto";
import { hasStrictSignatureForm } from "../../../../toolkit/strict_signature.ts";
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";
import { importVerifyingKey } from "../../../base/http/callers/verifying_key.ts";
import { workerOf } from "../../../base/workers/start_worker.ts";
import { WorkerThread, type WorkerThreadServices } from "../../../base/workers/worker_thread.ts";
import program from "./verification_worker.js" with { type: "text" };

export interface Signer {
  /** 32 bytes, base64url. */
  publicKey: string;
}

export interface SignatureVerifierOptions extends WorkerThreadServices {
  /** Whether other requests could use the main thread meanwhile: alone, a request is faster there. */
  isBusy: () => boolean;
  bounds?: VerifierBounds;
}

export interface VerifierBounds {
  /** Signatures in one message to the worker. */
  batch: number;
  /** Signatures that may wait for the batch under way: beyond, the main thread checks them. */
  waiting: number;
}

const BOUNDS: VerifierBounds = { batch: 32, waiting: 64 };
/** A batch takes the worker some 2.5 ms. */
const PATIENCE_MS = 1_500;

/** Starts its worker, with no permission at all. */
export const startVerificationWorker = workerOf(
  `data:text/javascript,${encodeURIComponent(String(program))}`,
  { name: "verify" },
);

/** Three texts a signature: public key (base64url), signature (base64), signed string. */
export type Batch = readonly string[];

/** A check and who waits for it. */
interface Check {
  signer: Signer;
  text: string;
  signature: Buffer;
  resolve: (isValid: boolean | Promise<boolean>) => void;
}

/** 11 MB; one more takes 8 us to make, a check ten times that. */
const NATIVE_KEYS = 10_000;

export class SignatureVerifier {
  readonly #options: SignatureVerifierOptions;
  readonly #bounds: VerifierBounds;
  /** By public key, of those that were checked here lately. */
  readonly #keys = new BoundedMap<string, KeyObject>(NATIVE_KEYS);
  readonly #worker: WorkerThread<Batch, string>;
  #waiting: Check[] = [];
  #isUnderWay = false;

  constructor(options: SignatureVerifierOptions) {
    const { bounds = BOUNDS, ...services } = options;
    this.#options = options;
    this.#bounds = bounds;
    this.#worker = new WorkerThread({ ...services, bounds: { idleMs: Infinity } });
  }

  /** Whether a signature of 64 bytes over a text is valid by the strict rule (docs/adr/0002). */
  verify(signer: Signer, text: string, signature: Buffer): boolean | Promise<boolean> {
    if (!hasStrictSignatureForm(signature)) return false;
    if (!this.#options.isBusy()) return this.#isValid(signer, text, signature);
    if (!this.#worker.isReady || this.#waiting.length >= this.#bounds.waiting) {
      this.#worker.start();
      return this.#isValid(signer, text, signature);
    }
    return new Promise((resolve) => {
      this.#waiting.push({ signer, text, signature, resolve });
      this.#post();
    });
  }

  /** Ends the worker. Checks that wait are made here, as are those still to come. */
  close(): void {
    this.#worker.close();
  }

  async #post(): Promise<void> {
    if (this.#isUnderWay || this.#waiting.length === 0) return;
    this.#isUnderWay = true;
    const checks = this.#waiting.splice(0, this.#bounds.batch);
    const batch: string[] = [];
    for (const { signer, text, signature } of checks) {
      batch.push(signer.publicKey, signature.toString("base64"), text);
    }
    const end = await this.#worker.run(batch, { timeMs: PATIENCE_MS });
    this.#isUnderWay = false;
    const verdicts = end.type === "result" ? end.result : "";
    if (end.type === "result") this.#post(); // the worker's next batch comes before the answers of this one
    else {
      this.#worker.rest();
      checks.push(...this.#waiting.splice(0));
    }
    if (end.type === "timed_out") this.#tell("the verification worker does not answer");
    const doFit = verdicts.length === checks.length;
    if (end.type === "result" && !doFit) {
      this.#tell(`${verdicts.length} verdicts on ${checks.length} signatures`);
    }
    for (const [i, { signer, text, signature, resolve }] of checks.entries()) {
      const verdict = doFit ? verdicts[i] : undefined;
      if (verdict === "1" || verdict === "0") resolve(verdict === "1");
      // In a turn of its own: what the check throws is its caller's.
      else resolve(Promise.resolve().then(() => this.#isValid(signer, text, signature)));
    }
  }

  #tell(loss: string): void {
    this.#options.onLoss(new Error(loss));
  }

  #isValid({ publicKey }: Signer, text: string, signature: Buffer): boolean {
    let key = this.#keys.get(publicKey);
    if (key === undefined) {
      key = importVerifyingKey(publicKey);
      this.#keys.set(publicKey, key);
    }
    return verify(null, Buffer.from(text), key, signature);
  }
}
