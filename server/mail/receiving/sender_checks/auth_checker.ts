/**
 * Checks mails in a worker (docs/adr/0039): a stranger's bytes never hold the main thread, and
 * whatever becomes of the worker, each mail gets a result.
 */
import { runCopied } from "../../../base/workers/run_copied.ts";
import { workerOf } from "../../../base/workers/start_worker.ts";
import { WorkerThread, type WorkerThreadServices } from "../../../base/workers/worker_thread.ts";
import {
  type AuthWord,
  brokenCheck,
  type DnsWord,
  type MailClient,
  type MailToCheck,
  type SenderCheck,
} from "./auth_messages.ts";
import type { AskDns } from "../../../base/outside/dns_client.ts";
import { LOOKUP_BOUNDS, type LookupBounds, Lookups } from "./lookups.ts";
import { newestOfMost, nextCheck, type Party } from "./next_check.ts";

export interface AuthCheckerOptions extends WorkerThreadServices {
  dns: AskDns;
  /** Unix milliseconds that signatures expire by. */
  now: () => number;
  /** Domains whose word in a chain of seals counts; none unless given. */
  trustedSealers?: readonly string[];
  bounds?: Partial<CheckerBounds>;
  lookups?: LookupBounds;
}

/** What checks of senders may take of the relay, and of the time of those who wait. */
export interface CheckerBounds {
  /** Places for mails in the worker; most of these wait for DNS (next_check.ts). */
  underWay: number;
  /** Their bytes that it has not hashed yet; one larger mail goes alone. */
  bytes: number;
  /** Mails that wait for either. */
  waiting: number;
  waitMs: number;
  /** For DNS, of a mail behind which others of its org wait; else what the lookups are given. */
  hurriedMs: number;
  /** From a mail's entry into the worker to its result. */
  checkMs: number;
}

const BOUNDS: CheckerBounds = {
  underWay: 64,
  bytes: 48 * 1024 * 1024,
  waiting: 500,
  waitMs: 20_000,
  hurriedMs: 1_000,
  checkMs: 30_000,
};

/** Starts its worker, with no permission at all. */
export const startAuthWorker = workerOf(
  new URL("./auth_worker.ts", import.meta.url),
  { name: "mail-auth" },
);

interface Check {
  raw: Uint8Array<ArrayBuffer>;
  client: MailClient;
  party: Party;
  lookups: Lookups;
  resolve: (check: SenderCheck) => void;
  /** While it waits. */
  timer?: ReturnType<typeof setTimeout>;
  /** Bytes that count until it is hashed. */
  heldBytes: number;
  hasBegun: boolean;
  /** Undefined until the worker says it. */
  fromDomain: string | null | undefined;
  /** It was in a worker that died before it began with it. */
  isSecondTry: boolean;
}

export class AuthChecker {
  readonly #options: AuthCheckerOptions;
  readonly #bounds: CheckerBounds;
  readonly #worker: WorkerThread<MailToCheck, SenderCheck, AuthWord, DnsWord>;
  /** The oldest first. */
  readonly #waiting: Check[] = [];
  readonly #underWay = new Set<Check>();
  #heldBytes = 0;

  constructor(options: AuthCheckerOptions) {
    const { start, onLoss, startTicker } = options;
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#worker = new WorkerThread({
      start,
      onLoss,
      startTicker,
      bounds: { silenceMs: 10_000, idleMs: Infinity },
      onStray(word, say) {
        // Given up meanwhile, and the worker still waits for DNS.
        if (word.kind === "lookup") say({ question: word.question, answer: { code: "ETIMEOUT" } });
      },
    });
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
    return new Promise((resolve) => {
      const { dns, lookups = LOOKUP_BOUNDS } = this.#options;
      this.#wait({
        raw,
        client,
        party,
        lookups: new Lookups(dns, lookups, () => performance.now()),
        resolve,
        heldBytes: 0,
        hasBegun: false,
        fromDomain: undefined,
        isSecondTry: false,
      });
      this.#admit();
      this.#hurry(party.org);
    });
  }

  /** Ends the worker; what is not checked yet is temperror. */
  close(): void {
    this.#worker.close();
    this.#admit();
  }

  #wait(check: Check): void {
    check.timer = setTimeout(() => this.#giveUpWaiting(check), this.#bounds.waitMs);
    this.#waiting.push(check);
    if (this.#waiting.length > this.#bounds.waiting) {
      this.#giveUpWaiting(newestOfMost(this.#waiting));
    }
  }

  /** Shortens the checks that others of their org wait for. */
  #hurry(org: string): void {
    if (!this.#waiting.some(({ party }) => party.org === org)) return;
    for (const { party, lookups } of this.#underWay) {
      if (party.org === org) lookups.hurry(this.#bounds.hurriedMs);
    }
  }

  /** Admits as many as there is room for; without a worker nobody waits. */
  #admit(): void {
    const { underWay, bytes } = this.#bounds;
    while (this.#worker.isUsable) {
      const check = nextCheck(this.#waiting, [...this.#underWay], underWay);
      // A large mail holds up the others until its bytes have room.
      const hasRoom = this.#heldBytes === 0 ||
        this.#heldBytes + (check?.raw.length ?? 0) <= bytes;
      if (check === null || !hasRoom) return;
      this.#leaveLine(check);
      this.#underWay.add(check);
      this.#hold(check, check.raw.length);
      this.#run(check);
      this.#hurry(check.party.org);
    }
    for (const check of [...this.#waiting]) this.#giveUpWaiting(check);
  }

  async #run(check: Check): Promise<void> {
    const { now, onLoss, trustedSealers = [] } = this.#options;
    const { raw, client } = check;
    const end = await runCopied(this.#worker, { raw, client, nowMs: now(), trustedSealers }, {
      timeMs: this.#bounds.checkMs,
      onWord: (word, say) => this.#hear(check, word, say),
    });
    this.#underWay.delete(check);
    this.#hold(check, 0);
    if (end.type === "failed") {
      onLoss(new Error(`a mail could not be checked: ${end.reason}`));
    }
    if (end.type === "lost" && !check.hasBegun && !check.isSecondTry) {
      check.isSecondTry = true;
      this.#wait(check);
    } else this.#finish(check, end.type === "result" ? end.result : null);
    this.#admit();
  }

  #hear(check: Check, word: AuthWord, say: (answer: DnsWord) => void): void {
    if (word.kind === "begun") {
      check.hasBegun = true;
      check.fromDomain = word.fromDomain;
    } else if (word.kind === "hashed") {
      this.#hold(check, 0);
      this.#admit();
    } else {
      const { question, name, type } = word;
      void check.lookups.ask(name, type).then((answer) => say({ question, answer }));
    }
  }

  #giveUpWaiting(check: Check): void {
    if (this.#leaveLine(check)) this.#finish(check, null);
  }

  #leaveLine(check: Check): boolean {
    clearTimeout(check.timer);
    const place = this.#waiting.indexOf(check);
    return place >= 0 && this.#waiting.splice(place, 1).length > 0;
  }

  /** @param found null where it was not checked to the end */
  #finish(check: Check, found: SenderCheck | null): void {
    check.lookups.close();
    check.resolve(found ?? brokenCheck(check.client, check.fromDomain));
  }

  #hold(check: Check, bytes: number): void {
    this.#heldBytes += bytes - check.heldBytes;
    check.heldBytes = bytes;
  }
}
