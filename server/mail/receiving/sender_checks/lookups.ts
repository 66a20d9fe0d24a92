/** What one mail may ask of DNS: so many questions, each once, within so much time in all. */
import type { AskDns } from "../../../base/outside/dns_client.ts";
import type { DnsAnswer, DnsRecord, RecordType } from "../../../../toolkit/mail/dns_message.ts";

export interface LookupBounds {
  /** While at least one question of the mail is under way. */
  timeMs: number;
  questions: number;
}

export const LOOKUP_BOUNDS: LookupBounds = { timeMs: 5_000, questions: 60 };

/** Characters of one text of a TXT record, all chunks together: a key of 8,192 bits has 1,500. */
export const MAX_TEXT_CHARACTERS = 4_096;
/** Characters of all texts of an answer. */
const MAX_ANSWER_CHARACTERS = 65_536;

export class Lookups {
  readonly #asked = new Map<string, Promise<DnsAnswer>>();
  readonly #abort = new AbortController();
  #leftMs: number;
  #underWay = 0;
  #sinceMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isHurried = false;

  /** @param nowMs a clock that does not jump */
  constructor(
    private readonly dns: AskDns,
    private readonly bounds: LookupBounds,
    private readonly nowMs: () => number,
  ) {
    this.#leftMs = bounds.timeMs;
  }

  /** Never rejects. Beyond the bounds every answer is ETIMEOUT. */
  ask(name: string, type: RecordType): Promise<DnsAnswer> {
    const key = `${type} ${name.toLowerCase()}`;
    let answer = this.#asked.get(key);
    if (answer === undefined) {
      if (this.#abort.signal.aborted || this.#asked.size >= this.bounds.questions) {
        return Promise.resolve({ code: "ETIMEOUT" });
      }
      answer = this.#ask(name, type);
      this.#asked.set(key, answer);
    }
    return answer;
  }

  /** Gives the mail less time in all; what it has had counts. */
  hurry(timeMs: number): void {
    if (this.#isHurried || timeMs >= this.bounds.timeMs) return;
    this.#isHurried = true;
    this.#leftMs -= this.bounds.timeMs - timeMs;
    if (this.#underWay === 0) return;
    clearTimeout(this.#timer);
    const hadMs = this.nowMs() - this.#sinceMs;
    this.#timer = setTimeout(() => this.#abort.abort(), Math.max(0, this.#leftMs - hadMs));
  }

  /** Ends the look-ups under way, whose answers nobody waits for any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #ask(name: string, type: RecordType): Promise<DnsAnswer> {
    this.#begin();
    const { signal } = this.#abort;
    try {
      const answer = await this.dns(name, type, signal);
      if (signal.aborted) return { code: "ETIMEOUT" };
      return "records" in answer ? { records: bounded(answer.records) } : answer;
    } catch {
      return { code: signal.aborted ? "ETIMEOUT" : "ESERVFAIL" };
    } finally {
      this.#end();
    }
  }

  #begin(): void {
    if (this.#underWay++ > 0) return;
    this.#sinceMs = this.nowMs();
    this.#timer = setTimeout(() => this.#abort.abort(), Math.max(0, this.#leftMs));
  }

  #end(): void {
    if (--this.#underWay > 0) return;
    clearTimeout(this.#timer);
    this.#leftMs = Math.max(0, this.#leftMs - (this.nowMs() - this.#sinceMs));
    if (this.#leftMs === 0) this.#abort.abort();
  }
}

/** Texts cut one character beyond their bound, so that who reads one sees that it is too long. */
function bounded(records: readonly DnsRecord[]): DnsRecord[] {
  let left = MAX_ANSWER_CHARACTERS;
  const kept: DnsRecord[] = [];
  for (const record of records) {
    if (!Array.isArray(record)) {
      kept.push(record);
      continue;
    }
    const text = record.join("").slice(0, MAX_TEXT_CHARACTERS + 1);
    left -= text.length;
    if (left < 0) break;
    kept.push([text]);
  }
  return kept;
}
