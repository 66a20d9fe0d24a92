/**
 * The search index beside the store (docs/adr/0064), kept up behind the commits. What it holds of an
 * inbox is compared with the inbox's guard at every search: what it lacks is read from the store then.
 */
import { describeFailure } from "../../base/describe_failure.ts";
import { coalesceRuns } from "../../base/storage/leases/coalesce_runs.ts";
import { ifThere } from "../../base/files/if_there.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import { READ_KEYS } from "../../base/storage/rows/backend.ts";
import { startIntervalTicker, type StartTicker } from "../../base/time/ticker.ts";
import {
  EMPTY_MAILBOX,
  mailboxKey,
  type MailboxRecord,
  MESSAGES_CHANGED,
  type MessagesChanged,
} from "../records/mailbox_record.ts";
import { messageKey, type MessageRow } from "../records/message_record.ts";
import { type FollowerOptions, IndexFollower } from "./index_follower.ts";
import { IndexFailed, IndexWorkers, type IndexWorkersOptions } from "./index_workers.ts";
import type { Highlights } from "./highlights.ts";
import { matchedMessage } from "./match_message.ts";
import { newestMessages } from "./newest_messages.ts";
import type { Term } from "./search_terms.ts";
import type { AskedWords, FoundWords, InboxGuard } from "./word_index.ts";

export interface MailIndexOptions
  extends Omit<IndexWorkersOptions, "onMade">, Omit<FollowerOptions, "workers" | "guardsOf"> {
  commits: Pick<GroupCommit, "listen">;
  startTicker?: StartTicker;
}

/** What is looked for, as the index is asked for it; the newest messages come first. */
export interface AskedMessages
  extends Pick<AskedWords, "terms" | "direction" | "below" | "from" | "created" | "limit"> {
  inboxIds: readonly string[];
}

/** After a commit: what comes together is read together. */
const SOON_MS = 2_000;
/** Inboxes whose removed messages are remembered, and messages of each; of more it is read what is left. */
const REMEMBERED = 1_000;
const READ_TOGETHER = READ_KEYS;
/** Steps of an erasure between two looks at what has changed; each takes up to a second. */
const ERASED_STEPS = 8;

export class MailIndex {
  readonly #workers: IndexWorkers;
  readonly #follower: IndexFollower;
  /** Inboxes to look at, with their orgs. */
  readonly #changed = new Map<string, string>();
  readonly #removed = new Map<string, Set<string>>();
  /** Until the index is compared with the store: commits of an inbox when it was first heard of. */
  readonly #firstChanges = new Map<string, number>();
  #isCompared = false;
  #mayErase = true;
  #isGivenUp = false;
  #isClosed = false;
  #stopTicker: (() => void) | null = null;

  /**
   * Brings the index up with the store, and gives its file up where mail needs the room; callers share runs.
   * What fails is logged, and left for the next run.
   */
  readonly catchUp: () => Promise<void>;

  constructor(private readonly options: MailIndexOptions) {
    const { log, commits } = options;
    this.#workers = new IndexWorkers({
      ...options,
      onMade: (why) => log("mail_index_made", { why }),
    });
    this.#follower = new IndexFollower({
      ...options,
      workers: this.#workers,
      guardsOf: (inboxes) => this.#guardsOf(inboxes),
    });
    commits.listen(MESSAGES_CHANGED, (what) => this.#hear(what as MessagesChanged));
    this.catchUp = coalesceRuns(() => this.#catchUpOrLog());
  }

  /** Has the index looked at soon. */
  start(): void {
    if (this.#isClosed) return;
    const { startTicker = startIntervalTicker } = this.options;
    this.#stopTicker ??= startTicker(() => {
      this.#stopTicking();
      this.catchUp();
    }, SOON_MS);
  }

  /** Ends what is under way; the next start goes on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicking();
    await this.#workers.close();
    await this.catchUp(); // what was under way has ended
  }

  /**
   * Messages in which all terms may stand, the newest first: from the index, and what it does not have
   * from the store. Where there is no index: all messages of the inboxes.
   */
  async *rows(orgId: string, asked: AskedMessages): AsyncGenerator<MessageRow> {
    const { store } = this.options;
    for (let { below } = asked;;) {
      const { found, isMore, behind } = await this.#find(orgId, { ...asked, below });
      const others = newestMessages(store, orgId, behind, below);
      let other = await others.next();
      for (let at = 0; at < found.length; at += READ_TOGETHER) {
        const some = found.slice(at, at + READ_TOGETHER);
        const keys = some.map(({ inboxId, id }) => messageKey(orgId, inboxId, id));
        const rows = await store.getMany<MessageRow[]>(keys);
        for (const [i, { id }] of some.entries()) {
          for (; !other.done && other.value.id > id; other = await others.next()) yield other.value;
          const row = rows[i]!.value;
          if (row !== null) yield row; // else it was removed just now
        }
      }
      if (isMore) {
        below = found.at(-1)!.id;
        continue;
      }
      for (; !other.done; other = await others.next()) yield other.value;
      return;
    }
  }

  /**
   * Matches messages off the main thread: as matchMessage().
   * @returns undefined for each message that the caller is to match itself; fewer where no worker did it
   */
  async match(
    terms: readonly Term[],
    rows: readonly MessageRow[],
  ): Promise<(Highlights | null | undefined)[]> {
    if (this.#workers.file === null || rows.length === 0) return [];
    try {
      return await this.#workers.match(this.options.blobs, terms, rows.map(matchedMessage));
    } catch (error) {
      if (!(error instanceof IndexFailed)) throw error;
      return [];
    }
  }

  async #find(
    orgId: string,
    { inboxIds, ...asked }: AskedMessages,
  ): Promise<FoundWords> {
    const all = inboxIds.map((inboxId) => ({ inboxId, knownTo: null }));
    const nothing = { found: [], isMore: false, behind: all };
    if (!this.#isCompared || this.#workers.file === null) return nothing;
    const ask = async () => {
      const inboxes = await this.#guardsOf(inboxIds.map((id) => ({ orgId, id })));
      return await this.#workers.find({ orgId, inboxes, ...asked });
    };
    try {
      let answer = await ask();
      // The index may have gone on since the guards were read.
      if (answer.behind.some(({ knownTo }) => knownTo === null)) answer = await ask();
      for (const { inboxId } of answer.behind) this.#changed.set(inboxId, orgId);
      if (answer.behind.length > 0) this.start();
      return answer;
    } catch (error) {
      if (!(error instanceof IndexFailed)) throw error;
      return nothing;
    }
  }

  #hear({ orgId, inboxId, changes, removed }: MessagesChanged): void {
    if (!this.#isCompared && changes !== undefined && !this.#firstChanges.has(inboxId)) {
      this.#firstChanges.set(inboxId, changes);
    }
    this.#changed.set(inboxId, orgId);
    if (removed !== undefined) {
      const ids = this.#removed.get(inboxId) ?? new Set();
      if (this.#removed.size < REMEMBERED) this.#removed.set(inboxId, ids);
      if (ids.size < REMEMBERED) ids.add(removed);
    }
    this.start();
  }

  #stopTicking(): void {
    this.#stopTicker?.();
    this.#stopTicker = null;
  }

  async #catchUpOrLog(): Promise<void> {
    if (this.#isClosed) return;
    try {
      if (await this.#hasWork()) await this.#catchUp();
    } catch (error) {
      const isTold = error instanceof IndexFailed; // by the workers
      if (!isTold && !this.#isClosed) {
        this.options.log("mail_index_stopped", describeFailure(error));
      }
    }
  }

  /** No worker is started, and no file made, where there has been no mail yet. */
  async #hasWork(): Promise<boolean> {
    if (this.#changed.size > 0 || this.#workers.file !== null) return true;
    const { store, folder } = this.options;
    return await ifThere(Deno.stat(folder)) !== null ||
      (await store.list({ prefix: mailboxKey.under() }, { limit: 1 })).length > 0;
  }

  async #catchUp(): Promise<void> {
    if (await this.#leavesRoom()) return;
    if (this.#workers.file === null) {
      this.#isCompared = false;
      this.#isGivenUp = false;
      await this.#workers.open();
    }
    if (!this.#isCompared) await this.#compare();
    for (const [inboxId, orgId] of [...this.#changed]) {
      this.#changed.delete(inboxId);
      const removed = this.#removed.get(inboxId);
      this.#removed.delete(inboxId);
      const isChanging = () => this.#changed.has(inboxId);
      try {
        const forgot = await this.#follower.follow({ orgId, inboxId, removed, isChanging });
        this.#mayErase ||= forgot;
      } catch (error) {
        this.#changed.set(inboxId, orgId);
        this.#mayErase = true; // it may have come so far
        // Where one finds no room, words of others may still be taken out: not where there is no file any more.
        if (!(error instanceof IndexFailed) || this.#workers.file === null) throw error;
      }
    }
    for (let step = 0; this.#mayErase && step < ERASED_STEPS; step++) {
      this.#mayErase = await this.#workers.write("erase");
    }
    if (this.#mayErase) this.start(); // others are not kept waiting
  }

  /** @returns whether there is no room for an index: then it goes, since mail is to have it */
  async #leavesRoom(): Promise<boolean> {
    const { freeDisk, folder, mailMinFreeDiskBytes } = this.options;
    await freeDisk.refresh();
    if ((freeDisk.freeBytes ?? Infinity) >= mailMinFreeDiskBytes) return false;
    // A former process may have left its file.
    if (!this.#isGivenUp && await ifThere(Deno.stat(folder)) !== null) {
      this.#isCompared = false;
      await this.#workers.giveUp();
      this.#isGivenUp = true;
    }
    return true;
  }

  async #compare(): Promise<void> {
    for await (const { orgId, id } of this.#follower.differing()) this.#changed.set(id, orgId);
    this.#isCompared = true;
    this.#mayErase = true;
    this.#firstChanges.clear();
  }

  /** Before the index is compared, the least that an inbox is known to have changed: commits go on meanwhile. */
  async #guardsOf(inboxes: readonly { orgId: string; id: string }[]): Promise<InboxGuard[]> {
    const { records } = this.options;
    const keys = inboxes.map(({ orgId, id }) => mailboxKey(orgId, id));
    const found: (MailboxRecord | null)[] = keys.length > READ_TOGETHER
      ? await records.readMany(keys)
      : await Promise.all(keys.map((key) => records.read<MailboxRecord>(key)));
    return inboxes.map(({ id }, i) => {
      const { headId, messages, changes } = found[i] ?? EMPTY_MAILBOX;
      const first = this.#firstChanges.get(id) ?? Infinity;
      return { id, headId, messages, changes: Math.min(changes, first) };
    });
  }
}
