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
import type { StartWorker, VerificationWorker } from "./start_worker.ts";

/** Whose signature it is. */
export interface Signer {
  /** 32 bytes, base64url. */
  publicKey: string;
}

export interface SignatureVerifierOptions {
  /** Whether other requests could use the main thread meanwhile: alone, a request is faster there. */
  isBusy: () => boolean;
  /** Null where the runtime has no workers. */
  start: StartWorker | null;
  /** Told once, when a worker could not be started or has ended by itself. */
  onLoss: (failure: unknown) => void;
  bounds?: VerifierBounds;
  /** Calls back once, unless cancelled by the function it returns. */
  after?: (delayMs: number, callback: () => void) => () => void;
}

export interface VerifierBounds {
  /** Signatures in one message to the worker. */
  batch: number;
  /** Signatures that may wait for the batch under way: beyond, the main thread checks them. */
  waiting: number;
  /** The checks of a batch that has no answer at two looks in a row, so far apart, are made here. */
  lookEveryMs: number;
  /** A worker that has not answered after so many looks at one batch is ended. */
  patienceLooks: number;
}

/** A batch takes the worker some 2.5 ms. */
const BOUNDS: VerifierBounds = { batch: 32, waiting: 64, lookEveryMs: 1_000, patienceLooks: 60 };

/** A check and who waits for it. */
interface Check {
  signer: Signer;
  text: string;
  signature: Buffer;
  resolve: (isValid: boolean | Promise<boolean>) => void;
}

/** 11 MB; one more takes 8 us to make, a check ten times that. */
const NATIVE_KEYS = 10_000;

/** "late": the worker owes an answer that nobody waits for any more, and gets nothing until it comes. */
type State = "not started" | "starting" | "ready" | "late" | "off";

export class SignatureVerifier {
  readonly #options: SignatureVerifierOptions;
  readonly #bounds: VerifierBounds;
  readonly #after: NonNullable<SignatureVerifierOptions["after"]>;
  /** By public key, of those that were checked here lately. */
  readonly #keys = new BoundedMap<string, KeyObject>(NATIVE_KEYS);
  #state: State;
  #worker: VerificationWorker | null = null;
  #waiting: Check[] = [];
  #underWay: Check[] = [];
  /** The batch that the last look found under way, and the looks that did so. */
  #seen: Check[] | null = null;
  #looks = 0;
  #endLooks: (() => void) | null = null;

  constructor(options: SignatureVerifierOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? BOUNDS;
    this.#after = options.after ?? startTimer;
    this.#state = options.start === null ? "off" : "not started";
  }

  /** Whether a signature of 64 bytes over a text is valid by the strict rule (docs/adr/0002). */
  verify(signer: Signer, text: string, signature: Buffer): boolean | Promise<boolean> {
    if (!hasStrictSignatureForm(signature)) return false;
    if (this.#state === "off" || !this.#options.isBusy()) {
      return this.#isValid(signer, text, signature);
    }
    if (this.#state === "not started") this.#start();
    if (this.#state !== "ready" || this.#waiting.length >= this.#bounds.waiting) {
      return this.#isValid(signer, text, signature);
    }
    return new Promise((resolve) => {
      this.#waiting.push({ signer, text, signature, resolve });
      this.#post();
    });
  }

  /** Ends the worker. Checks that wait are made here, as are those still to come. */
  close(): void {
    this.#end();
  }

  #start(): void {
    this.#state = "starting";
    try {
      this.#worker = this.#options.start!({
        ready: () => {
          if (this.#state === "starting") this.#state = "ready";
        },
        verdicts: (verdicts) => this.#resolve(verdicts),
        died: (failure) => this.#lose(failure),
      });
    } catch (error) {
      this.#lose(error);
    }
  }

  #post(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    this.#underWay = this.#waiting.splice(0, this.#bounds.batch);
    const batch: string[] = [];
    for (const { signer, text, signature } of this.#underWay) {
      batch.push(signer.publicKey, signature.toString("base64"), text);
    }
    this.#worker!.post(batch);
    this.#endLooks ??= this.#after(this.#bounds.lookEveryMs, () => this.#look());
  }

  #resolve(verdicts: string): void {
    if (this.#state === "late") {
      this.#state = "ready";
      this.#seen = null;
    } else if (this.#state === "ready") this.#take(verdicts);
  }

  #take(verdicts: string): void {
    const checks = this.#underWay;
    if (verdicts.length !== checks.length) {
      this.#lose(new Error(`${verdicts.length} verdicts on ${checks.length} signatures`));
      return;
    }
    this.#underWay = [];
    this.#post(); // the worker's next batch comes before the answers of this one
    for (const [i, check] of checks.entries()) {
      const verdict = verdicts[i];
      if (verdict === "1" || verdict === "0") check.resolve(verdict === "1");
      else this.#checkHere(check);
    }
  }

  /**
   * Two looks, since after a pause of the process the timer may come before the answer. On a machine
   * that has too much to do the worker may be late, so that it is not ended at once.
   */
  #look(): void {
    this.#endLooks = null;
    if (this.#state === "ready" && this.#seen !== this.#underWay) {
      this.#seen = this.#underWay;
      this.#looks = 0;
    }
    if (this.#state === "ready" && this.#underWay.length === 0) return;
    this.#looks++;
    if (this.#looks > this.#bounds.patienceLooks) {
      this.#lose(new Error("the verification worker does not answer"));
      return;
    }
    if (this.#looks > 1) {
      this.#state = "late";
      this.#checkAllHere();
    }
    this.#endLooks = this.#after(this.#bounds.lookEveryMs, () => this.#look());
  }

  #lose(failure: unknown): void {
    if (this.#state === "off") return;
    this.#end();
    this.#options.onLoss(failure);
  }

  #end(): void {
    this.#state = "off";
    this.#worker?.terminate();
    this.#worker = null;
    this.#endLooks?.();
    this.#endLooks = null;
    this.#checkAllHere();
  }

  /** Makes all checks that the worker has or was to get. */
  #checkAllHere(): void {
    const checks = [...this.#underWay, ...this.#waiting];
    this.#underWay = [];
    this.#waiting = [];
    for (const check of checks) this.#checkHere(check);
  }

  #checkHere({ signer, text, signature, resolve }: Check): void {
    // In a turn of its own: what the check throws is its caller's.
    resolve(Promise.resolve().then(() => this.#isValid(signer, text, signature)));
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

function startTimer(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
