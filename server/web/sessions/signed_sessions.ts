/**
 * Sessions of pages that are no rows: a time, whose it is and a random id under a MAC. They hold in every
 * process of a store, and open when the disk is full and nothing can be written.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";

const FORM =
  /^1\.([0-9]{1,15})\.([A-Za-z0-9_~-]{0,120})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;
const ID_BYTES = 16;

export interface SignedSessionsOptions {
  /** Secret of these pages, 32 bytes. */
  key: Uint8Array;
  lifeMs: number;
  random: (sizeBytes: number) => Uint8Array;
}

export interface OpenSession {
  /** As it was issued for. */
  subject: string;
  id: string;
}

export class SignedSessions {
  constructor(private readonly options: SignedSessionsOptions) {}

  /**
   * The value of a new session's cookie.
   * @param nowMs Unix milliseconds
   * @param subject at most 120 of A-Z a-z 0-9 _ - ~
   */
  issue(nowMs: number, subject = ""): string {
    const { random, lifeMs } = this.options;
    const id = Buffer.from(random(ID_BYTES)).toString("base64url");
    const signed = `1.${nowMs + lifeMs}.${subject}.${id}`;
    return `${signed}.${this.#mac(signed)}`;
  }

  /** The session that a value stands for; null for one that has ended, or was not issued here. */
  open(value: string, nowMs: number): OpenSession | null {
    const match = FORM.exec(value);
    if (match === null) return null;
    const [, endMs, subject, id, mac] = match;
    const signed = value.slice(0, value.lastIndexOf("."));
    if (!isSame(this.#mac(signed), mac!)) return null;
    // A clock that was set back must not make a session longer than its life.
    const leftMs = Number(endMs) - nowMs;
    return leftMs > 0 && leftMs <= this.options.lifeMs ? { subject: subject!, id: id! } : null;
  }

  /** What a form of a session's page carries, so that no other page can send it. @param action its path */
  formToken({ id }: OpenSession, action: string): string {
    return this.#mac(`form ${action} ${id}`);
  }

  isFormToken(session: OpenSession, action: string, token: string): boolean {
    return isSame(this.formToken(session, action), token);
  }

  #mac(signed: string): string {
    return createHmac("sha256", this.options.key).update(signed).digest("base64url");
  }
}

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
