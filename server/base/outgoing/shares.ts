/**
 * Who may begin an attempt now, and who has to leave room (docs/adr/0049). An attempt is of an org and for a
 * recipient's domain, and both hold a share of the slots by what their attempts took lately. Nothing here
 * waits: who is not admitted asks again when a slot is given back. Pure.
 */
import { HOUR_MS, MINUTE_MS } from "../time/time_units.ts";

/** Who shares the slots of a kind; a party that is unknown, or the same for all, is left out. */
export interface Parties {
  org?: string;
  domain?: string;
}

/** An attempt that takes longer is slow, under way too: most take less than a second. */
export const SLOW_MS = 10_000;
/** How long an attempt in less than that speaks for its parties. */
export const QUICK_FOR_MS = HOUR_MS;
/** A slow party counts as slow for as long again, within these bounds. */
const SLOW_AT_LEAST_MS = MINUTE_MS;
export const SLOW_AT_MOST_MS = 10 * MINUTE_MS;
/** Slots that slow ones leave to the others. */
const NOT_FOR_SLOW = 2;
/** Parties remembered; the ones silent for longest are forgotten. */
const REMEMBERED = 10_000;

interface Past {
  /** Its attempts under way. */
  running: Set<RunningAttempt>;
  quickAtMs: number;
  slowAtMs: number;
  slowUntilMs: number;
}

/** An attempt under way. */
export interface RunningAttempt {
  parties: Parties;
  atMs: number;
}

type Standing = "slow" | "new" | "quick";

export class Shares {
  readonly #past = new Map<string, Past>();
  readonly #running = new Set<RunningAttempt>();

  constructor(readonly slots: number) {}

  /**
   * Whether an attempt may begin:
   *
   * - An org that was slow lately, or is unknown, holds one slot. One that was quick takes
   *   a further one only while more are free besides it than it has, so that the next finds room.
   * - A domain has one attempt that does not hang yet; one that was quick lately has all slots but the
   *   last. What hangs does not count here: a few bad recipients are not their domain.
   * - What is slow by its org or its domain leaves two slots to the others.
   * - The last slot of three or more is for attempts whose org or domain was quick lately, and the other of
   *   the two not slow: newcomers, each of which may hang, must not have all.
   *
   * @param parties of the attempt; one without any takes whatever is free
   */
  admits(parties: Parties, nowMs: number): boolean {
    const free = this.slots - this.#running.size;
    if (free <= 0) return false;
    const { org, domain } = parties;
    const standings: Standing[] = [];
    if (org !== undefined) {
      const standing = this.#ofOrg(org, nowMs);
      const held = this.#past.get(orgName(org))?.running.size ?? 0;
      if (held > 0 && (standing !== "quick" || held >= free - 1)) return false;
      standings.push(standing);
    }
    if (domain !== undefined) {
      const standing = this.#ofDomain(domain, nowMs);
      const most = standing === "quick" ? Math.max(1, this.slots - 1) : 1;
      if (this.#young(domain, nowMs) >= most) return false;
      standings.push(standing);
    }
    if (standings.length === 0) return true;
    const isSlow = standings.includes("slow");
    const isLast = free === 1 && this.slots > NOT_FOR_SLOW;
    if (isLast && (isSlow || !standings.includes("quick"))) return false;
    return !isSlow || this.#slowRunning(nowMs) < Math.max(1, this.slots - NOT_FOR_SLOW);
  }

  /** An attempt begins. */
  take(parties: Parties, nowMs: number): RunningAttempt {
    const attempt: RunningAttempt = { parties, atMs: nowMs };
    this.#running.add(attempt);
    for (const name of namesOf(parties)) this.#heardOf(name).running.add(attempt);
    this.#forget();
    return attempt;
  }

  /**
   * An attempt has ended; a second call does nothing.
   * @param tells whether its length says something about its parties: an attempt that did not come about
   * says nothing
   */
  giveBack(attempt: RunningAttempt, nowMs: number, tells: boolean): void {
    if (!this.#running.delete(attempt)) return;
    const tookMs = nowMs - attempt.atMs;
    for (const name of namesOf(attempt.parties)) {
      const past = this.#heardOf(name);
      past.running.delete(attempt);
      if (!tells) continue;
      if (tookMs <= SLOW_MS) past.quickAtMs = nowMs;
      else {
        const slowMs = Math.min(Math.max(tookMs, SLOW_AT_LEAST_MS), SLOW_AT_MOST_MS);
        past.slowAtMs = nowMs;
        past.slowUntilMs = Math.max(past.slowUntilMs, nowMs + slowMs);
      }
    }
  }

  /** Attempts under way. */
  get held(): number {
    return this.#running.size;
  }

  /** An org answers for each of its attempts. */
  #ofOrg(org: string, nowMs: number): Standing {
    const past = this.#past.get(orgName(org));
    if (past === undefined) return "new";
    if (isSlowNow(past, nowMs) || someHang(past, nowMs)) return "slow";
    return isQuick(past, nowMs) ? "quick" : "new";
  }

  /** A domain is as it was since: what is quick after a slow attempt began shows that the rest is well. */
  #ofDomain(domain: string, nowMs: number): Standing {
    const past = this.#past.get(domainName(domain));
    if (past === undefined) return "new";
    const hanging = [...past.running].filter((attempt) => hangs(attempt, nowMs));
    const slowAtMs = isSlowNow(past, nowMs) ? past.slowAtMs : -Infinity;
    const sinceMs = Math.max(slowAtMs, ...hanging.map(({ atMs }) => atMs));
    if (isQuick(past, nowMs) && past.quickAtMs >= sinceMs) return "quick";
    return hanging.length > 0 || isSlowNow(past, nowMs) ? "slow" : "new";
  }

  #young(domain: string, nowMs: number): number {
    const running = [...this.#past.get(domainName(domain))?.running ?? []];
    return running.filter((attempt) => !hangs(attempt, nowMs)).length;
  }

  /** Attempts under way that are slow by their org or their domain. */
  #slowRunning(nowMs: number): number {
    let count = 0;
    for (const { parties: { org, domain } } of this.#running) {
      const isSlow = org !== undefined && this.#ofOrg(org, nowMs) === "slow" ||
        domain !== undefined && this.#ofDomain(domain, nowMs) === "slow";
      if (isSlow) count++;
    }
    return count;
  }

  #heardOf(name: string): Past {
    const past = this.#past.get(name) ??
      { running: new Set(), quickAtMs: -Infinity, slowAtMs: -Infinity, slowUntilMs: 0 };
    this.#past.delete(name);
    this.#past.set(name, past);
    return past;
  }

  #forget(): void {
    for (const [name, { running }] of this.#past) {
      if (this.#past.size <= REMEMBERED) return;
      if (running.size === 0) this.#past.delete(name);
    }
  }
}

const orgName = (org: string): string => `org ${org}`;
const domainName = (domain: string): string => `domain ${domain}`;

function namesOf({ org, domain }: Parties): string[] {
  return [
    ...(org === undefined ? [] : [orgName(org)]),
    ...(domain === undefined ? [] : [domainName(domain)]),
  ];
}

const hangs = ({ atMs }: RunningAttempt, nowMs: number): boolean => nowMs - atMs > SLOW_MS;
const someHang = ({ running }: Past, nowMs: number): boolean =>
  [...running].some((attempt) => hangs(attempt, nowMs));

// A clock that was set back ends both.
const isQuick = ({ quickAtMs }: Past, nowMs: number): boolean =>
  nowMs >= quickAtMs && nowMs < quickAtMs + QUICK_FOR_MS;
const isSlowNow = ({ slowAtMs, slowUntilMs }: Past, nowMs: number): boolean =>
  nowMs >= slowAtMs && nowMs < slowUntilMs;
