/**
 * Has mails checked by a worker (docs/adr/0039): a stranger's bytes never hold the main thread, and
 * whatever becomes of the worker, each mail gets a result.
 */
import {
  brokenCheck,
  type FromWorker,
  type MailClient,
  type SenderCheck,
} from "./auth_messages.ts";
import { CHECKER_BOUNDS, type CheckerBounds } from "./checker_bounds.ts";
import type { AskDns } from "./dns_client.ts";
import { LOOKUP_BOUNDS, type LookupBounds, Lookups } from "./lookups.ts";
import { newestOfMost, nextCheck, type Party } from "./next_check.ts";
import type { AuthWorker, StartAuthWorker } from "./start_auth_worker.ts";

export interface AuthCheckerOptions {
  dns: AskDns;
  start: StartAuthWorker;
  /** Told of a worker that could not be started, has died, or does not answer. */
  onLoss: (failure: unknown) => void;
  /** Unix milliseconds, by which signatures expire. */
  now: () => number;
  /** Domains whose word in a chain of seals counts; none unless given. */
  trustedSealers?: readonly string[];
  bounds?: CheckerBounds;
  lookups?: LookupBounds;
}

interface Check {
  raw: Uint8Array<ArrayBuffer>;
  client: MailClient;
  party: Party;
  resolve: (check: SenderCheck) => void;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Bytes that count until it is hashed. */
  heldBytes: number;
  lookups: Lookups | undefined;
  hasBegun: boolean;
  /** Undefined until it is known. */
  fromDomain: string | null | undefined;
  /** It was in a worker that died before it began with it. */
  isSecondTry: boolean;
}

export class AuthChecker {
  readonly #options: AuthCheckerOptions;
  readonly #bounds: CheckerBounds;
  /** The oldest first. */
  readonly #waiting: Check[] = [];
  readonly #underWay = new Map<number, Check>();
  #worker: AuthWorker | null = null;
  /** A worker that died before it was ready would die again. */
  #isReady = false;
  #heldBytes = 0;
  #ids = 0;
  #isClosed = false;
  #heardMs = 0;
  #watch: ReturnType<typeof setInterval> | undefined;
  /** Until then no worker is started. */
  #restMs = -Infinity;

  constructor(options: AuthCheckerOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? CHECKER_BOUNDS;
  }

  /**
   * What SPF, DKIM and DMARC say of a mail. Never rejects: what cannot be found out in time, or at
   * all, is temperror.
   * @param raw as received; it is copied
   */
  check(
    raw: Uint8Array<ArrayBuffer>,
    client: MailClient,
    party: Party,
  ): Promise<SenderCheck> {
    if (this.#isClosed || performance.now() < this.#restMs) {
      return Promise.resolve(brokenCheck(client));
    }
    return new Promise((resolve) => {
      const check: Check = {
        raw,
        client,
        party,
        resolve,
        timer: undefined,
        heldBytes: 0,
        lookups: undefined,
        hasBegun: false,
        fromDomain: undefined,
        isSecondTry: false,
      };
      this.#wait(check);
      this.#admit();
      this.#hurry(party.org);
    });
  }

  /** Ends the worker; what is not checked yet is temperror. */
  close(): void {
    this.#isClosed = true;
    this.#endWorker();
    for (const check of [...this.#underWay.values(), ...this.#waiting.splice(0)]) {
      this.#finish(check, brokenCheck(check.client, check.fromDomain));
    }
    this.#underWay.clear();
  }

  #wait(check: Check): void {
    check.timer = setTimeout(() => this.#giveUpWaiting(check), this.#bounds.waitMs);
    this.#waiting.push(check);
    if (this.#waiting.length > this.#bounds.waiting) {
      this.#giveUpWaiting(newestOfMost(this.#waiting));
    }
  }

  /** Has those be done soon for which others of their org wait. */
  #hurry(org: string): void {
    if (!this.#waiting.some(({ party }) => party.org === org)) return;
    for (const { party, lookups } of this.#underWay.values()) {
      if (party.org === org) lookups!.hurry(this.#bounds.hurriedMs);
    }
  }

  /** Lets those in that there is room for. */
  #admit(): void {
    const { underWay, bytes, checkMs } = this.#bounds;
    while (this.#waiting.length > 0 && this.#startWorker()) {
      const check = nextCheck(this.#waiting, [...this.#underWay.values()], underWay);
      // A large mail holds up the others until its bytes have room.
      const hasRoom = this.#heldBytes === 0 ||
        this.#heldBytes + (check?.raw.length ?? 0) <= bytes;
      if (check === null || !hasRoom) return;
      this.#waiting.splice(this.#waiting.indexOf(check), 1);
      clearTimeout(check.timer);
      const id = this.#ids++;
      this.#underWay.set(id, check);
      check.heldBytes = check.raw.length;
      this.#heldBytes += check.heldBytes;
      check.lookups = new Lookups(
        this.#options.dns,
        this.#options.lookups ?? LOOKUP_BOUNDS,
        () => performance.now(),
      );
      check.timer = setTimeout(() => this.#giveUp(id), checkMs);
      const raw = check.raw.slice();
      const { client } = check;
      const { now, trustedSealers = [] } = this.#options;
      const nowMs = now();
      this.#hurry(check.party.org);
      this.#worker!.post({ kind: "check", id, raw, client, nowMs, trustedSealers }, [raw.buffer]);
    }
  }

  #startWorker(): boolean {
    if (this.#worker !== null) return true;
    this.#isReady = false;
    this.#heardMs = performance.now();
    let worker: AuthWorker | undefined;
    try {
      worker = this.#options.start({
        said: (message) => {
          if (worker === this.#worker) this.#hear(message);
        },
        died: (failure) => {
          if (worker === this.#worker) this.#lose(failure);
        },
      });
    } catch (error) {
      this.#lose(error);
      return false;
    }
    this.#worker = worker;
    this.#watch = setInterval(() => this.#look(), this.#bounds.silenceMs / 4);
    return true;
  }

  #hear(message: FromWorker): void {
    this.#heardMs = performance.now();
    if (message.kind === "ready") this.#isReady = true;
    if (!("id" in message)) return;
    const check = this.#underWay.get(message.id);
    if (check === undefined) {
      // Given up meanwhile, and the worker still waits for DNS.
      if (message.kind === "lookup") this.#answer(message.question, { code: "ETIMEOUT" });
      return;
    }
    switch (message.kind) {
      case "begun":
        check.hasBegun = true;
        check.fromDomain = message.fromDomain;
        break;
      case "hashed":
        this.#release(check);
        this.#admit();
        break;
      case "lookup": {
        const { question, name, type } = message;
        void check.lookups!.ask(name, type).then((answer) => this.#answer(question, answer));
        break;
      }
      case "done":
        this.#end(message.id, message.check);
        break;
      case "failed":
        this.#options.onLoss(new Error(`a mail could not be checked: ${message.reason}`));
        this.#end(message.id, brokenCheck(check.client, check.fromDomain));
    }
  }

  #answer(question: number, answer: Awaited<ReturnType<AskDns>>): void {
    this.#worker?.post({ kind: "answer", question, answer });
  }

  /** Asks the worker for a word while something is under way. */
  #look(): void {
    if (this.#underWay.size === 0) {
      this.#heardMs = performance.now();
      return;
    }
    if (performance.now() - this.#heardMs > this.#bounds.silenceMs) {
      this.#lose(new Error("the worker that checks mails does not answer"));
    } else this.#worker?.post({ kind: "ping" });
  }

  /** Mails that the lost worker had not begun with have one more try. */
  #lose(failure: unknown): void {
    if (!this.#isReady) this.#restMs = performance.now() + this.#bounds.silenceMs;
    this.#endWorker();
    this.#options.onLoss(failure);
    const lost = [...this.#underWay.values()];
    this.#underWay.clear();
    const again = lost.filter((check) => this.#isReady && !check.hasBegun && !check.isSecondTry);
    for (const check of lost) {
      check.lookups?.close();
      this.#release(check);
      clearTimeout(check.timer);
      if (!again.includes(check)) {
        this.#finish(check, brokenCheck(check.client, check.fromDomain));
        continue;
      }
      check.isSecondTry = true;
      this.#wait(check);
    }
    if (this.#isReady) this.#admit();
    else {for (const check of this.#waiting.splice(0)) {
        this.#finish(check, brokenCheck(check.client));
      }}
  }

  #giveUp(id: number): void {
    const check = this.#underWay.get(id);
    if (check !== undefined) this.#end(id, brokenCheck(check.client, check.fromDomain));
  }

  #giveUpWaiting(check: Check): void {
    const place = this.#waiting.indexOf(check);
    if (place < 0) return;
    this.#waiting.splice(place, 1);
    this.#finish(check, brokenCheck(check.client));
  }

  #end(id: number, found: SenderCheck): void {
    const check = this.#underWay.get(id)!;
    this.#underWay.delete(id);
    this.#release(check);
    this.#finish(check, found);
    this.#admit();
  }

  #finish(check: Check, found: SenderCheck): void {
    clearTimeout(check.timer);
    check.lookups?.close();
    check.resolve(found);
  }

  #release(check: Check): void {
    this.#heldBytes -= check.heldBytes;
    check.heldBytes = 0;
  }

  #endWorker(): void {
    clearInterval(this.#watch);
    this.#worker?.terminate();
    this.#worker = null;
  }
}
