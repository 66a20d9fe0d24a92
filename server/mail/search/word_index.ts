// Over 300 lines: all that is said to SQLite in one place.
/**
 * Which words stand in which messages: a file of SQLite, its full-text table fed with the search's own
 * tokens (docs/adr/0064). A message is one row, a *doc*; the docs of an inbox ascend with the ids of its
 * messages. In a worker alone: every call takes as long as SQLite does.
 */
import { createHash } from "node:crypto";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { MessageRow } from "../records/message_record.ts";
import type { Term } from "./search_terms.ts";

/** What is wrong with the file: it is thrown away and made anew. */
export class IndexDamaged extends Error {
  override name = "IndexDamaged";
}

/** The guard of an inbox, as far as the index compares it. */
export interface InboxGuard {
  id: string;
  headId: string | null;
  messages: number;
  changes: number;
}

/** A message, its words as wordsOf() makes them; null for one that only its own bytes can tell of. */
export interface IndexedMessage {
  id: string;
  createdAtMs: number;
  direction: MessageRow["direction"];
  words: string | null;
}

export interface AskedWords {
  orgId: string;
  inboxes: readonly InboxGuard[];
  terms: readonly Term[];
  direction?: MessageRow["direction"];
  /** Ids below this one, and from that one on. */
  below: string | null;
  from: string | null;
  /** Created before; of messages whose ids are below `surelyBelow` it is known. */
  created: { beforeMs: number; surelyBelow: string } | null;
  limit: number;
}

export interface FoundWords {
  /** Newest first. */
  found: { inboxId: string; id: string }[];
  isMore: boolean;
  /** Inboxes of which the index does not know the messages behind an id, or any (null). */
  behind: { inboxId: string; knownTo: string | null }[];
}

interface InboxRow {
  no: number;
  org: string;
  /** Null for what is to be erased. */
  id: string | null;
  /** Up to this id the index has had every message. */
  head: string | null;
  messages: number;
  /** Commits of the inbox that are known to be before what the index has seen. */
  changes: number;
  last: number;
  sum: string;
}

/** Raised with any change to what the file holds, tokens included: older files are made anew. */
export const FORMAT = 1;
/** Docs of an inbox begin at its number times this; numbers stay exact in a double. */
const DOCS = 2 ** 32;
const MOST_INBOXES = 2 ** 20;
const SCHEMA = [
  "CREATE VIRTUAL TABLE words USING fts5(mail, said, tokenize = 'ascii', columnsize = 0)",
  "CREATE TABLE inboxes (no INTEGER PRIMARY KEY, org TEXT NOT NULL, id TEXT UNIQUE, head TEXT, " +
  "messages INTEGER NOT NULL, changes INTEGER NOT NULL, last INTEGER NOT NULL, sum TEXT NOT NULL)",
];
const CACHE_KIB = 16 * 1024;
/** Frames of the log, 4 KiB each, after which SQLite moves it into the file. */
const LOG_FRAMES = 1_000;
/** Letters of no token: what begins the index's own words, and what parts the fields of a message. */
const OWN = "\ue001";
export const BETWEEN_FIELDS = "\ue000";
const OPEN = `${OWN}open`;
const DOC =
  /^.([0-9]{16}) .(msg[0-9A-Z]{26}) .org[0-9A-Z]{26} .ibx[0-9A-Z]{26} .(inbound|outbound)(?: .(open))?$/;
const TIME_DIGITS = 16;
/** Prefix of ids of messages. */
const MESSAGE = "msg";
const ULID_CHARACTERS = 26;
/** Of an inbox with more docs the rest is merged away at once: by itself each takes ten times as long. */
const ERASED_ONE_BY_ONE = 1_000;
const ERASED_A_STEP = 20;
const MERGED_PAGES = 200;
/** From so many inboxes on only those are asked that have a match. */
const ASKED_EACH = 8;
const CHUNK = 16;

export class WordIndex implements Disposable {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #isMerging = false;

  /** @throws Error of SQLite; call check() before the first use of a file that was there */
  constructor(path: string, { isNew = false, isReader = false } = {}) {
    this.#db = new DatabaseSync(path);
    try {
      this.#db.exec(`PRAGMA busy_timeout = 2000; PRAGMA cache_size = -${CACHE_KIB}`);
      this.#db.exec(
        isReader
          ? "PRAGMA query_only = ON"
          : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; " +
            `PRAGMA wal_autocheckpoint = ${LOG_FRAMES}`,
      );
      if (!isNew) return;
      this.#transact(() => {
        for (const sql of SCHEMA) this.#db.exec(sql);
        this.#db.exec(`PRAGMA user_version = ${FORMAT}`);
      });
      this.#eraseAtOnce(true);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /**
   * Makes sure of a file that was there.
   * @param isAsClosed whether it is known to be as seal() left it; else all of it is read, some three
   * seconds for 100,000 messages
   * @throws IndexDamaged for another format, and where something does not fit
   */
  check(isAsClosed = false): void {
    const require = (is: boolean, what: string) => {
      if (!is) throw new IndexDamaged(what);
    };
    require(this.#get("PRAGMA user_version")?.user_version === FORMAT, "another format");
    const made = this.#all("SELECT sql FROM sqlite_master WHERE name IN ('words', 'inboxes')");
    require(SCHEMA.every((sql) => made.some((one) => one.sql === sql)), "other tables");
    if (!isAsClosed) {
      const told = this.#all("PRAGMA integrity_check(1)")[0]?.integrity_check;
      require(told === "ok", "the check of SQLite");
      for (const row of this.#all("SELECT * FROM inboxes") as unknown as InboxRow[]) {
        require(row.sum === sumOf(row), "the row of an inbox");
        if (row.id !== null) require(this.#hasAllOf(row), "the messages of an inbox");
      }
    }
    this.#eraseAtOnce(true);
    this.#emptyLog();
  }

  /** Whether an inbox has the docs that it counts, each as add() writes it: no other check sees every byte. */
  #hasAllOf(row: InboxRow): boolean {
    const sql = "SELECT rowid AS doc, mail FROM words WHERE rowid BETWEEN ? AND ?";
    let count = 0;
    for (const { mail } of this.#statement(sql).iterate(...rangeOf(row))) {
      const [, ms, id, direction, open] = typeof mail === "string" && DOC.exec(mail) || [];
      if (mail !== ownWords(row, { ms, id, direction, open })) return false;
      count++;
    }
    return count === row.messages;
  }

  /** Has everything in the one file, before it is closed. @throws Error while somebody else reads it */
  seal(): void {
    if (this.#get("PRAGMA wal_checkpoint(TRUNCATE)")?.busy !== 0) throw new Error("it is in use");
  }

  /**
   * Of these inboxes the ones whose messages the index does not have as the store does. What it has of
   * another history is forgotten.
   */
  compare(guards: readonly InboxGuard[]): string[] {
    return this.#transact(() =>
      guards.filter((guard) => {
        const row = this.#inbox(guard.id);
        if (row === null) return guard.headId !== null;
        const how = standing(row, guard);
        if (how === "unusable") this.#put({ ...row, id: null });
        return how !== "whole";
      })
    ).map(({ id }) => id);
  }

  /** Inboxes of the index in the order of their numbers. @param after a number; 0 for the first */
  list(after: number, limit: number): { no: number; orgId: string; id: string }[] {
    const sql =
      "SELECT no, org AS orgId, id FROM inboxes WHERE no > ? AND id IS NOT NULL ORDER BY no LIMIT ?";
    return this.#all(sql, after, limit) as { no: number; orgId: string; id: string }[];
  }

  /** Makes ready to take messages of an inbox; forgets what is of another history than the store's. */
  begin(orgId: string, guard: InboxGuard): { knownTo: string | null; isAnew: boolean } {
    return this.#transact(() => {
      let row = this.#inbox(guard.id);
      const had = row;
      if (row !== null && standing(row, guard) === "unusable") {
        this.#put({ ...row, id: null });
        row = null;
      }
      if (row === null) {
        const { no } = this.#get("SELECT coalesce(max(no), 0) + 1 AS no FROM inboxes") as {
          no: number;
        };
        if (no >= MOST_INBOXES) throw new IndexDamaged("no number is left for an inbox");
        row = {
          no,
          org: orgId,
          id: guard.id,
          head: null,
          messages: 0,
          changes: 0,
          last: 0,
          sum: "",
        };
      }
      this.#put({ ...row, changes: Math.max(row.changes, guard.changes) });
      return { knownTo: row.head, isAnew: had !== null && had.no !== row.no };
    });
  }

  /** Takes messages, in the order of their ids; those that it has had are left out. */
  add(inboxId: string, messages: readonly IndexedMessage[]): void {
    this.#transact(() => {
      const row = this.#require(inboxId);
      const sql = "INSERT INTO words (rowid, mail, said) VALUES (?, ?, ?)";
      for (const { id, createdAtMs, direction, words } of messages) {
        if (row.head !== null && id <= row.head) continue;
        row.head = id;
        row.messages++;
        const ms = `${createdAtMs}`.padStart(TIME_DIGITS, "0");
        const open = words === null ? "open" : undefined;
        const mail = ownWords(row, { ms, id: plain(id), direction, open });
        this.#run(sql, big(docOf(row.no, ++row.last)), mail, words ?? "");
      }
      this.#put(row);
    });
  }

  /** Forgets messages by their ids; those that it does not have are left out. */
  remove(inboxId: string, ids: readonly string[]): void {
    this.#transact(() => {
      const row = this.#require(inboxId);
      for (const id of ids) {
        const [lo, hi] = rangeOf(row);
        const sql = "SELECT rowid AS doc FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?";
        const found = this.#get(sql, `"${OWN}${plain(id)}"`, lo, hi);
        if (found !== undefined) this.#removeDoc(row, found.doc as number);
      }
      this.#put(row);
    });
    this.#emptyLog();
  }

  /**
   * Forgets what has gone of a stretch of an inbox.
   * @param ids those of the store, all above `after` and up to `upTo`
   * @returns whether it has all of these
   */
  retain(inboxId: string, after: string | null, upTo: string, ids: readonly string[]): boolean {
    const kept = new Set(ids);
    const has = this.#transact(() => {
      const row = this.#require(inboxId);
      const first = after === null ? 1 : this.#placeOf(row, `${after}0`);
      const last = this.#placeOf(row, `${upTo}0`) - 1;
      const sql = "SELECT rowid AS doc, mail FROM words WHERE rowid BETWEEN ? AND ?";
      const docs = this.#all(sql, big(docOf(row.no, first)), big(docOf(row.no, last)));
      let found = 0;
      for (const { doc, mail } of docs as { doc: number; mail: string }[]) {
        if (kept.has(idIn(mail))) found++;
        else this.#removeDoc(row, doc);
      }
      this.#put(row);
      return found === kept.size;
    });
    this.#emptyLog();
    return has;
  }

  /** All that the store had when this guard was read has been added: says how many messages there are. */
  settle(guard: InboxGuard): { messages: number } {
    return this.#transact(() => {
      const row = this.#require(guard.id);
      if (guard.headId !== null && (row.head === null || row.head < guard.headId)) {
        row.head = guard.headId;
      }
      this.#put(row);
      return { messages: row.messages };
    });
  }

  /** Forgets an inbox; erase() takes its words away. */
  drop(inboxId: string): void {
    const row = this.#inbox(inboxId);
    if (row !== null) this.#put({ ...row, id: null });
  }

  /** A step of taking the words of forgotten inboxes out of the file. @returns whether there is more */
  erase(): boolean {
    const row = this.#get("SELECT * FROM inboxes WHERE id IS NULL AND last > 0 LIMIT 1") as
      | InboxRow
      | undefined;
    if (row === undefined) return this.#mergeAway();
    const isLarge = row.messages > ERASED_ONE_BY_ONE;
    this.#eraseAtOnce(!isLarge);
    const isMore = this.#transact(() => {
      const limit = ERASED_A_STEP * (isLarge ? 50 : 1);
      const sql = "SELECT rowid AS doc FROM words WHERE rowid BETWEEN ? AND ? LIMIT ?";
      const docs = this.#all(sql, ...rangeOf(row), limit);
      for (const { doc } of docs) {
        this.#run("DELETE FROM words WHERE rowid = ?", big(doc as number));
      }
      if (docs.length === limit) return true;
      if (isLarge) this.#put({ ...row, last: 0 });
      else this.#run("DELETE FROM inboxes WHERE no = ?", row.no);
      return true;
    });
    this.#eraseAtOnce(true);
    return isMore;
  }

  /** What is left of large forgotten inboxes goes with the segments that it stood in. */
  #mergeAway(): boolean {
    if (this.#get("SELECT no FROM inboxes WHERE id IS NULL LIMIT 1") === undefined) {
      this.#emptyLog();
      return false;
    }
    const changes = () => this.#get("SELECT total_changes() AS n")!.n as number;
    const before = changes();
    const pages = this.#isMerging ? MERGED_PAGES : -MERGED_PAGES;
    this.#run("INSERT INTO words (words, rank) VALUES ('merge', ?)", big(pages));
    const isOver = this.#isMerging && changes() - before < 2;
    this.#isMerging = !isOver;
    if (isOver) this.#run("DELETE FROM inboxes WHERE id IS NULL AND last = 0");
    return true;
  }

  /** Messages in which all terms stand, or may stand: the newest first. */
  find(asked: AskedWords): FoundWords {
    const lists: FoundList[] = [];
    const behind: FoundWords["behind"] = [];
    const rows = new Map<number, InboxRow>();
    for (const guard of asked.inboxes) {
      const row = this.#inbox(guard.id);
      const how = row === null ? "unusable" : standing(row, guard);
      if (how !== "unusable") rows.set(row!.no, row!);
      const isEmpty = row === null && guard.headId === null;
      if (how === "whole" || isEmpty) continue;
      behind.push({ inboxId: guard.id, knownTo: how === "unusable" ? null : row!.head });
    }
    const only = rows.size === 1 ? rows.values().next().value! : null;
    const words = matchOf(asked, only === null ? asked.orgId : only.id!);
    const first = only === null ? CHUNK : asked.limit + 1;
    const open = (row: InboxRow) => lists.push(this.#listOf(row, words, first, asked));
    if (rows.size <= ASKED_EACH) { for (const row of rows.values()) open(row); }
    else {
      for (let hi = docOf(MOST_INBOXES, 0);;) {
        const doc = this.#docs(words, 0, hi, null, 1)[0]?.doc;
        if (doc === undefined) break;
        const no = Math.floor(doc / DOCS);
        if (rows.has(no)) open(rows.get(no)!);
        hi = docOf(no, 0);
      }
    }
    const found: FoundWords["found"] = [];
    for (;;) {
      let newest: FoundList | null = null;
      for (const list of lists) {
        if (list.peek() !== null && (newest === null || list.peek()! > newest.peek()!)) {
          newest = list;
        }
      }
      if (newest === null || found.length === asked.limit) {
        return { found, isMore: newest !== null, behind };
      }
      found.push({ inboxId: newest.inboxId, id: newest.take() });
    }
  }

  /** @param first docs of the first read */
  #listOf(
    row: InboxRow,
    words: string,
    first: number,
    { below, from, created }: AskedWords,
  ): FoundList {
    const lo = docOf(row.no, from === null ? 1 : this.#placeOf(row, from));
    let hi = docOf(row.no, (below === null ? row.last + 1 : this.#placeOf(row, below)) - 1);
    const sure = created &&
      { doc: docOf(row.no, this.#placeOf(row, created.surelyBelow)), ms: created.beforeMs };
    let size = first;
    return new FoundList(row.id!, () => {
      const docs = hi < lo ? [] : this.#docs(words, lo, hi, sure, size);
      hi = docs.length < size ? lo - 1 : docs.at(-1)!.doc - 1;
      size = Math.max(size, 4 * CHUNK);
      return docs.map(({ mail }) => idIn(mail));
    });
  }

  #docs(
    words: string,
    lo: number,
    hi: number,
    sure: { doc: number; ms: number } | null,
    limit: number,
  ): { doc: number; mail: string }[] {
    const rest = sure === null ? "" : "AND (rowid < ? OR CAST(substr(mail, 2, 16) AS INTEGER) < ?)";
    const sql =
      "SELECT rowid AS doc, mail FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? " +
      `${rest} ORDER BY rowid DESC LIMIT ?`;
    const more = sure === null ? [] : [big(sure.doc), big(sure.ms)];
    return this.#all(sql, words, big(lo), big(hi), ...more, limit) as never;
  }

  /** Where in an inbox the first doc stands whose message has this id or a higher one; last + 1 for none. */
  #placeOf(row: InboxRow, id: string): number {
    const sql = "SELECT rowid AS doc, mail FROM words WHERE rowid BETWEEN ? AND ? LIMIT 1";
    let lo = 1;
    let hi = row.last + 1;
    while (lo < hi) {
      const middle = Math.floor((lo + hi) / 2);
      const at = this.#get(sql, big(docOf(row.no, middle)), big(docOf(row.no, hi - 1))) as
        | { doc: number; mail: string }
        | undefined;
      if (at === undefined || idIn(at.mail) >= id) hi = middle;
      else lo = at.doc - docOf(row.no, 0) + 1;
    }
    return lo;
  }

  #removeDoc(row: InboxRow, doc: number): void {
    this.#run("DELETE FROM words WHERE rowid = ?", big(doc));
    row.messages--;
  }

  #inbox(id: string): InboxRow | null {
    const row = this.#get("SELECT * FROM inboxes WHERE id = ?", id) as InboxRow | undefined;
    return row ?? null;
  }

  #require(id: string): InboxRow {
    const row = this.#inbox(id);
    if (row === null) throw new IndexDamaged("an inbox that was begun has gone");
    return row;
  }

  #put(row: InboxRow): void {
    const { no, org, id, head, messages, changes, last } = row;
    const sql = "INSERT OR REPLACE INTO inboxes VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    this.#run(sql, no, org, id, head, messages, changes, last, sumOf(row));
  }

  /** Whether a deletion takes words out of the index itself, or marks them as deleted until a merge. */
  #eraseAtOnce(is: boolean): void {
    this.#run("INSERT INTO words (words, rank) VALUES ('secure-delete', ?)", is ? 1n : 0n);
  }

  /** The log has pages as they were. Where somebody reads just then, the next time does it. */
  #emptyLog(): void {
    this.#all("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  #transact<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, statement = this.#db.prepare(sql));
    return statement;
  }

  #all(sql: string, ...given: SQLInputValue[]): Record<string, unknown>[] {
    return this.#statement(sql).all(...given);
  }

  #get(sql: string, ...given: SQLInputValue[]): Record<string, unknown> | undefined {
    return this.#statement(sql).get(...given);
  }

  #run(sql: string, ...given: SQLInputValue[]): void {
    this.#statement(sql).run(...given);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

/** What was found in one inbox, read as far as it is asked for. */
class FoundList {
  #ids: string[] = [];
  #isOver = false;

  constructor(readonly inboxId: string, private readonly more: () => string[]) {}

  /** The newest id that is left. */
  peek(): string | null {
    if (this.#ids.length === 0 && !this.#isOver) {
      this.#ids = this.more().reverse();
      this.#isOver = this.#ids.length === 0;
    }
    return this.#ids.at(-1) ?? null;
  }

  take(): string {
    return this.#ids.pop()!;
  }
}

/** Whether the index has an inbox as the store has it, or is behind, or knows another history. */
function standing(
  row: InboxRow,
  { headId, messages, changes }: InboxGuard,
): "whole" | "behind" | "unusable" {
  if (row.changes > changes) return "unusable";
  if (row.head !== null && (headId === null || row.head > headId)) return "unusable";
  return row.head === headId && row.messages === messages ? "whole" : "behind";
}

/** @param scope id of the org, or of the one inbox */
function matchOf({ terms, direction }: AskedWords, scope: string): string {
  const own = [plain(scope), ...(direction === undefined ? [] : [direction])];
  const phrases = new Set(terms.map((term) => `"${term.join(" ")}"`));
  const said = `((${[...phrases].join(" AND ")}) OR "${OPEN}")`;
  return [...own.map((word) => `"${OWN}${word}"`), said].join(" AND ");
}

function sumOf({ no, org, id, head, messages, changes, last }: InboxRow): string {
  const text = JSON.stringify([no, org, id, head, messages, changes, last]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}

function docOf(no: number, place: number): number {
  return no * DOCS + place;
}

function rangeOf({ no }: InboxRow): [bigint, bigint] {
  return [big(docOf(no, 1)), big(docOf(no + 1, 0) - 1)];
}

/** FTS5 takes bounds of rows by integers alone; numbers are bound as doubles. */
function big(value: number): bigint {
  return BigInt(value);
}

/** The words of a doc that are the index's own. */
function ownWords(
  { org, id: inboxId }: InboxRow,
  { ms, id, direction, open }: Partial<Record<"ms" | "id" | "direction" | "open", string>>,
): string {
  const own = [
    ms,
    id,
    plain(org),
    plain(inboxId!),
    direction,
    ...(open === undefined ? [] : [open]),
  ];
  return own.map((word) => OWN + word).join(" ");
}

/** An id as one token. */
function plain(id: string): string {
  return id.replace("_", "");
}

/** The id of a doc's message. */
function idIn(mail: string): string {
  const at = TIME_DIGITS + 3 + MESSAGE.length;
  return `${MESSAGE}_${mail.slice(at, at + ULID_CHARACTERS)}`;
}
