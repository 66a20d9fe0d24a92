/** What the commits of Google identities work on. */
import type { Limits } from "../../limits.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { LastUsed } from "../keys/last_used.ts";
import type { PrepareOwnerChange } from "../owner_change.ts";

export interface GoogleServices {
  commits: GroupCommit;
  records: RecordCache;
  lastUsed: LastUsed;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  now: () => number;
  limits: Limits;
  /** Of all inboxes, lowercased. */
  domain: string;
  /** What follows from a change of owner. */
  prepareOwnerChange: PrepareOwnerChange;
}
