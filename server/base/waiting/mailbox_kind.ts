import type { RecordKey } from "../storage/commits/record_key.ts";

/** What a mailbox's record says of its newest entry: it only grows (ids, ULIDs). */
export type Head = number | string;

/** Mailboxes that are waited at in one way: each is named by the key of its record. */
export interface MailboxKind<R, H extends Head> {
  /** Prefix of the ten keys [...marks, shard] with which processes on a shared store report changes to each other. */
  readonly marks: Deno.KvKey;
  headOf(record: R): H;
  /** Mailboxes whose heads the committed job of this result has raised; asked on shared stores. */
  changedBy(result: unknown): readonly RecordKey<R>[];
  /** A second record whose change wakes too, within ten seconds; looked at on shared stores. */
  alsoLooksAt?(mailbox: RecordKey<R>): Deno.KvKey;
}
