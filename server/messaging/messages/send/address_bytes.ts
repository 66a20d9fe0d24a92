/**
 * How many bytes of messages one client address may have stored in an hour (docs/api.md). Each
 * process counts in memory. That bounds what a few addresses can fill, and needs no row for a send.
 * Memory holds only the keyed hash of an address.
 */
import { rateLimited } from "../../../base/errors.ts";
import { admit, type WindowRule } from "../../../base/bounds/rate_window.ts";
import { HOUR_MS } from "../../../base/time/time_units.ts";

/** Sends of one minute share a stamp: 61 an address at most, measured 1.7 KB. */
const BUCKET_MS = 60_000;
/** Addresses that memory holds: 35 MB where each sends in every minute. */
const REMEMBERED = 20_000;
/** Addresses that are looked at to make room for one. */
const LOOKED_AT = 16;

interface Account {
  /** Pairs [timeMs, bytes] of accepted sends. */
  window: readonly number[];
  /** Bytes of sends whose commit is under way. */
  reservedBytes: number;
}

/** One send's bytes: held while its commit is under way, then counted or given back. */
export interface ReservedBytes {
  /**
   * Holds the bytes for an attempt at `nowMs`, in place of what an earlier attempt held.
   * @throws RelayError `rate_limited`
   */
  reserve(nowMs: number): void;
  /** The send was stored: what is held counts from its attempt on. */
  count(): void;
  /** The send was not stored. Without effect after count(). */
  giveBack(): void;
}

export class AddressBytes {
  readonly #accounts = new Map<string, Account>();
  readonly #rule: WindowRule;

  /** @param limitBytes bytes of accepted sends that one address may have in an hour */
  constructor(
    private readonly limitBytes: number,
    private readonly capacity = REMEMBERED,
  ) {
    this.#rule = { limit: limitBytes, windowMs: HOUR_MS, bucketMs: BUCKET_MS };
  }

  /** Addresses in memory now. */
  get size(): number {
    return this.#accounts.size;
  }

  /** The bytes of one send from an address, not held yet. */
  of(addressHash: string, sizeBytes: number): ReservedBytes {
    let account: Account | null = null;
    let heldAtMs = 0;
    const giveBack = () => {
      if (account === null) return;
      account.reservedBytes -= sizeBytes;
      account = null;
    };
    return {
      reserve: (nowMs) => {
        giveBack();
        account = this.#reserve(addressHash, sizeBytes, nowMs);
        heldAtMs = nowMs;
      },
      count: () => {
        if (account === null) return;
        const rule = { ...this.#rule, limit: Infinity };
        const counted = admit(account.window, heldAtMs, rule, sizeBytes);
        if ("window" in counted) account.window = counted.window;
        giveBack();
      },
      giveBack,
    };
  }

  #reserve(addressHash: string, sizeBytes: number, nowMs: number): Account {
    const account = this.#accounts.get(addressHash) ?? { window: [], reservedBytes: 0 };
    const admitted = admit(account.window, nowMs, this.#rule, account.reservedBytes + sizeBytes);
    if ("retryAfterMs" in admitted) {
      throw rateLimited(
        `at most ${this.limitBytes} bytes of messages an hour from one client address, whatever the number of agents; wait retry_after_ms, then send again`,
        admitted.retryAfterMs,
      );
    }
    this.#accounts.set(addressHash, account);
    account.reservedBytes += sizeBytes;
    if (this.#accounts.size > this.capacity) this.#makeRoom(addressHash, account);
    return account;
  }

  /** Forgets the lightest of the newest address and some old ones; those get a second chance. */
  #makeRoom(newestHash: string, newest: Account): void {
    let least = { hash: newestHash, bytes: bytesOf(newest) };
    let looks = LOOKED_AT;
    for (const [hash, account] of this.#accounts) {
      if (looks-- === 0) break;
      this.#accounts.delete(hash);
      this.#accounts.set(hash, account);
      const bytes = bytesOf(account);
      if (bytes <= least.bytes) least = { hash, bytes };
    }
    this.#accounts.delete(least.hash);
  }

  /** Forgets addresses that sent nothing within the last hour. Called every minute. */
  forgetExpired(nowMs: number): void {
    for (const [hash, { window, reservedBytes }] of this.#accounts) {
      const newestMs = window.at(-2) ?? 0;
      if (reservedBytes === 0 && newestMs <= nowMs - HOUR_MS) this.#accounts.delete(hash);
    }
  }
}

function bytesOf({ window, reservedBytes }: Account): number {
  let bytes = reservedBytes;
  for (let i = 1; i < window.length; i += 2) bytes += window[i]!;
  return bytes;
}
