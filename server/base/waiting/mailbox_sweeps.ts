/** Reads the mailboxes of marked shards that somebody waits at, and wakes for those that have changed. */
import type { Rows } from "../storage/rows/rows.ts";
import { recordName } from "../storage/commits/record_cache.ts";
import type { Head, MailboxKind } from "./mailbox_kind.ts";
import type { MailboxWaits, WaitedMailbox } from "./mailbox_waits.ts";
import { Pause } from "./pause.ts";

export interface MailboxSweepsOptions<R, H extends Head> {
  store: Rows;
  kind: MailboxKind<R, H>;
  waits: MailboxWaits<R, H>;
}

interface Look<R, H extends Head> {
  mailbox: WaitedMailbox<R, H>;
  key: Deno.KvKey;
  name: string;
}

const GET_MANY = 10;
/** Concurrent reads of mailboxes. */
const READS_AT_ONCE = 8;
const LONGEST_PAUSE_MS = 500;

export class MailboxSweeps<R, H extends Head> {
  /** Versionstamp of each waited record as last seen: its waiters have read since. */
  readonly #seen = new Map<string, string | null>();
  #wanted = new Set<number>();
  #wantsAll = false;
  #isSweeping = false;
  #isOn = false;
  readonly #pause = new Pause();

  constructor(private readonly options: MailboxSweepsOptions<R, H>) {}

  begin(): void {
    this.#isOn = true;
  }

  rest(): void {
    this.#isOn = false;
    this.#pause.end();
    this.#seen.clear();
    this.#wanted.clear();
  }

  /**
   * Wants the mailboxes of these shards looked at.
   * @param all with what else a kind looks at
   */
  request(shards: readonly number[], all = false): void {
    for (const shard of shards) this.#wanted.add(shard);
    this.#wantsAll ||= all;
    this.tick();
  }

  /** Tries again what the store did not answer. */
  tick(): void {
    if (this.#wanted.size > 0 && !this.#isSweeping) void this.#sweepWanted();
  }

  /** One sweep after the other, each followed by a pause as long: half of the time at most goes to it. */
  async #sweepWanted(): Promise<void> {
    this.#isSweeping = true;
    try {
      while (this.#wanted.size > 0 && this.#isOn) {
        const shards = this.#wanted;
        const all = this.#wantsAll;
        this.#wanted = new Set();
        this.#wantsAll = false;
        const beganMs = performance.now();
        try {
          await this.#sweep(shards, all);
        } catch {
          for (const shard of shards) this.#wanted.add(shard);
          this.#wantsAll ||= all;
          return; // again at the next tick
        }
        const tookMs = performance.now() - beganMs;
        if (tookMs > 10) await this.#pause.begin(Math.min(tookMs, LONGEST_PAUSE_MS));
      }
    } finally {
      this.#isSweeping = false;
    }
  }

  /** Wakes for each mailbox of the shards whose records have changed since they were last seen. */
  async #sweep(shards: ReadonlySet<number>, all: boolean): Promise<void> {
    const { store, kind, waits } = this.options;
    const mailboxes = [...waits.mailboxes()].filter(({ shard }) => shards.has(shard));
    const looks: Look<R, H>[] = mailboxes.map((mailbox) => ({
      mailbox,
      key: mailbox.key,
      name: mailbox.name,
    }));
    if (all && kind.alsoLooksAt !== undefined) {
      for (const mailbox of mailboxes) {
        const key = kind.alsoLooksAt(mailbox.key);
        looks.push({ mailbox, key, name: recordName(key) });
      }
    }
    const reads: (typeof looks)[] = [];
    for (let at = 0; at < looks.length; at += GET_MANY) reads.push(looks.slice(at, at + GET_MANY));
    const readNext = async (): Promise<void> => {
      for (let some = reads.shift(); some !== undefined; some = reads.shift()) {
        const keys = some.map(({ key }) => key);
        const rows = await store.getMany(keys);
        for (const [i, { versionstamp }] of rows.entries()) this.#see(some[i]!, versionstamp);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
    if (all) this.#forgetOthers(new Set(looks.map(({ name }) => name)));
  }

  #see({ mailbox, name }: Look<R, H>, versionstamp: string | null): void {
    if (this.#seen.get(name) === versionstamp) return;
    this.#seen.set(name, versionstamp);
    this.options.waits.announce(mailbox.key);
  }

  #forgetOthers(looked: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!looked.has(name)) this.#seen.delete(name);
  }
}
